import { expect, test } from 'vitest';
import { HUB_EVENTS_PATH } from '@roost/protocol';
import { firstAnswers } from '../hub/first-answers.ts';
import { makeQueryClient } from '../hub/queries.ts';
import { stubHub } from '../testing/stub-hub.ts';
import { EVENTS, headersOf, isLoginAddress, LISTS, ME } from './first-requests.ts';

const RUN = '0123456789abcdef';
const ME_ANSWER = { kind: 'user', user: null, role: 'observer', scope: null, expiresAt: null };
const EMPTY = { nodes: [], sessions: [], records: [], workspaces: [], total: 0, next: null };

test('what is asked ahead is what the page asks first, to the letter', async () => {
  const asked: [path: string, headers: unknown][] = [];
  const hub = stubHub((path, init) => {
    asked.push([path, init?.headers]);
    expect(init).toMatchObject({ credentials: 'same-origin', redirect: 'error' });
    if (path === HUB_EVENTS_PATH) return new Response(`event: alive\nid: ${RUN}-0\ndata: {}\n\n`);
    return Response.json(path === ME ? ME_ANSWER : EMPTY);
  });
  const queries = makeQueryClient();

  await firstAnswers(hub, queries);

  expect(hub.mirror.state().view).not.toBeNull();
  expect(queries.getQueryData(['hub', 'me.show', {}])).toEqual(ME_ANSWER);
  expect(Object.fromEntries(asked)).toEqual(
    Object.fromEntries([EVENTS, ME, ...LISTS].map((path) => [path, headersOf(path)])),
  );
  hub.mirroring.drop();
});

test('a refusal is an answer, too, and kept', async () => {
  const hub = stubHub(() => Response.json({ code: 'unauthenticated' }, { status: 401 }));
  const queries = makeQueryClient();

  await firstAnswers(hub, queries);

  expect(hub.mirror.state()).toMatchObject({ line: 'ended', view: null });
  expect(queries.getQueryState(['hub', 'me.show', {}])?.error?.failure.code).toBe('unauthenticated');
});

test.each([
  ['#/login/abc', true],
  ['#login/abc', true],
  ['#/', false],
  ['', false],
  ['#/sessions/login/', false],
])('at %s somebody logs in: %s', (hash, isLogin) => expect(isLoginAddress(hash)).toBe(isLogin));

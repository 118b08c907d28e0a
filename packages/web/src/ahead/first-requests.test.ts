import { expect, test } from 'vitest';
import { HubMirror, hubApi } from '@roost/client/browser';
import { HUB_EVENTS_PATH } from '@roost/protocol';
import { firstAnswers } from '../hub/first-answers.ts';
import type { Hub } from '../hub/hub.ts';
import { Mirroring } from '../hub/mirroring.ts';
import { makeQueryClient } from '../hub/queries.ts';
import { EVENTS, headersOf, LISTS, ME } from './first-requests.ts';

const RUN = '0123456789abcdef';
const ME_ANSWER = { kind: 'user', user: null, role: 'observer', scope: null, expiresAt: null };
const EMPTY = { nodes: [], sessions: [], records: [], workspaces: [], total: 0, next: null };

test('what is asked ahead is what the page asks first, to the letter', async () => {
  const asked: [path: string, headers: unknown][] = [];
  const fetch = (path: unknown, init?: RequestInit) => {
    asked.push([String(path), init?.headers]);
    expect(init).toMatchObject({ credentials: 'same-origin', redirect: 'error' });
    if (path === HUB_EVENTS_PATH)
      return Promise.resolve(new Response(`event: alive\nid: ${RUN}-0\ndata: {}\n\n`));
    return Promise.resolve(Response.json(path === ME ? ME_ANSWER : EMPTY));
  };
  const api = hubApi({ fetch: fetch, baseUrl: '' });
  const mirror = new HubMirror({ api, now: () => 0, schedule: (call) => call() });
  const mirroring = new Mirroring(mirror);
  const queries = makeQueryClient();

  await firstAnswers({ api, mirror, mirroring } as Hub, queries);

  expect(mirror.state().view).not.toBeNull();
  expect(queries.getQueryData(['hub', 'me.show', {}])).toEqual(ME_ANSWER);
  expect(Object.fromEntries(asked)).toEqual(
    Object.fromEntries([EVENTS, ME, ...LISTS].map((path) => [path, headersOf(path)])),
  );
  mirroring.take()();
});

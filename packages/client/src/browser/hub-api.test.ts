import { expect, test } from 'vitest';
import type { FailureError, NodeId, SessionId, WorkspaceId } from '@roost/protocol';
import { hubApi } from './hub-api.ts';

const NODE = 'aaaaaaaaaaaaaaaa' as NodeId;

interface Asked {
  readonly url: string;
  readonly init: RequestInit;
}

/** A hub that answers everything with this. */
function answering(status: number, body: string): { readonly asked: Asked[]; readonly fetch: typeof fetch } {
  const asked: Asked[] = [];
  return {
    asked,
    fetch: (url, init = {}) => {
      asked.push({ url: typeof url === 'string' ? url : '', init });
      return Promise.resolve(new Response(body, { status }));
    },
  };
}

const headersOf = ({ init }: Asked): Headers => new Headers(init.headers);
const problem = (code: string, rest: object = {}): string =>
  JSON.stringify({ type: '', title: '', code, ...rest });

test('parameters go into path, query and body as the route says', async () => {
  const got = answering(200, '{}');
  const api = hubApi({ fetch: got.fetch, baseUrl: 'https://hub' });
  const address = {
    workspaceId: 'shop' as WorkspaceId,
    sessionId: '1'.repeat(16) as SessionId,
    generation: 2,
  };
  await api.node(NODE, 'session.interrupt', address);
  await api.node(NODE, 'session.remove', address);
  await api
    .node(NODE, 'git.diff', { workspaceId: address.workspaceId, what: { kind: 'commit', commit: 'a/b' } })
    .catch(() => undefined);
  expect(got.asked.map(({ url, init }) => [init.method, url, init.body ?? null])).toEqual([
    [
      'POST',
      `https://hub/api/v1/nodes/${NODE}/sessions/${address.sessionId}/interrupt`,
      '{"workspaceId":"shop","generation":2}',
    ],
    [
      'DELETE',
      `https://hub/api/v1/nodes/${NODE}/sessions/${address.sessionId}?workspaceId=shop&generation=2`,
      null,
    ],
    [
      'GET',
      `https://hub/api/v1/nodes/${NODE}/workspaces/shop/git/diff?what=${encodeURIComponent('{"kind":"commit","commit":"a/b"}')}`,
      null,
    ],
  ]);
});

test('every request shows that a script of ours sent it; a token is sent where there is one, and then no cookie', async () => {
  const got = answering(200, '{"nodes":[]}');
  await hubApi({ fetch: got.fetch, baseUrl: '' }).hub('nodes.list', {});
  await hubApi({ fetch: got.fetch, baseUrl: '', token: 'secret' }).hub('nodes.list', {});
  const [page, program] = got.asked;
  expect(headersOf(page!).get('x-roost-csrf')).toBe('1');
  expect(page!.init.credentials).toBe('same-origin');
  expect(headersOf(program!).get('authorization')).toBe('Bearer secret');
  expect(program!.init.credentials).toBe('omit');
});

test('a problem is the failure that it names, with the request to look for', async () => {
  const { fetch } = answering(409, problem('name-taken', { details: { name: 'x' }, requestId: 'r1' }));
  const refused = hubApi({ fetch, baseUrl: '' }).hub('nodes.list', {});
  await expect(refused).rejects.toMatchObject({
    failure: { code: 'name-taken', details: { name: 'x', requestId: 'r1' } },
  });
});

test('answers that are no problems are told by their status', async () => {
  const codes = await Promise.all(
    [401, 502, 418].map((status) =>
      hubApi({ fetch: answering(status, '<html>').fetch, baseUrl: '' })
        .hub('nodes.list', {})
        .catch((error: unknown) => (error as FailureError).failure.code),
    ),
  );
  expect(codes).toEqual(['unauthenticated', 'hub-unreachable', 'internal-error']);
});

test('a hub that is away is unreachable; an answer of another shape is no answer; an abort stays one', async () => {
  const away = hubApi({ fetch: () => Promise.reject(new TypeError('failed')), baseUrl: '' });
  await expect(away.hub('nodes.list', {})).rejects.toMatchObject({ failure: { code: 'hub-unreachable' } });
  const strange = hubApi({ fetch: answering(200, '{"nodes":1}').fetch, baseUrl: '' });
  await expect(strange.hub('nodes.list', {})).rejects.toMatchObject({ failure: { code: 'internal-error' } });
  const aborted = hubApi({
    fetch: (_, init) => Promise.reject(init?.signal?.reason as Error),
    baseUrl: '',
  }).hub('nodes.list', {}, { signal: AbortSignal.abort() });
  await expect(aborted).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
});

test('what belongs to one connection is not asked for over HTTP', async () => {
  const api = hubApi({ fetch: answering(200, '{}').fetch, baseUrl: '' });
  await expect(api.node(NODE, 'screen.unwatch', {})).rejects.toMatchObject({
    failure: { code: 'unknown-operation' },
  });
});

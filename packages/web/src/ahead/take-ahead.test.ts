import { expect, test } from 'vitest';
import type { AheadRequest } from './first-requests.ts';
import { takingAhead } from './take-ahead.ts';

const textOf = async (answer: Promise<Response>) => (await answer).text();

function setUp(response: Promise<Response>) {
  const aborted: unknown[] = [];
  const ahead = new Map<string, AheadRequest>([
    ['/a', { response, abort: (reason) => aborted.push(reason) }],
  ]);
  const fetch = takingAhead(ahead, () => Promise.resolve(new Response('asked now')));
  return { fetch, aborted };
}

test('what was asked ahead answers the first who asks for it, and nobody else', async () => {
  const { fetch } = setUp(Promise.resolve(new Response('asked ahead')));
  expect(await textOf(fetch('/b'))).toBe('asked now');
  expect(await textOf(fetch('/a', { method: 'DELETE' }))).toBe('asked now');
  expect(await textOf(fetch('/a', { method: 'GET' }))).toBe('asked ahead');
  expect(await textOf(fetch('/a'))).toBe('asked now');
});

test('a refusal that came ahead is the answer', async () => {
  const { fetch } = setUp(Promise.resolve(new Response(null, { status: 401 })));
  expect((await fetch('/a')).status).toBe(401);
});

test('what failed ahead is asked again', async () => {
  const { fetch } = setUp(Promise.reject(new TypeError('no network')));
  expect(await textOf(fetch('/a'))).toBe('asked now');
});

test('once something of it was given up, the rest is asked anew', async () => {
  const aborted: string[] = [];
  const entry = (path: string) =>
    [
      path,
      { response: Promise.resolve(new Response('asked ahead')), abort: () => aborted.push(path) },
    ] as const;
  const ahead = new Map<string, AheadRequest>(['/events', '/me', '/list'].map(entry));
  const fetch = takingAhead(ahead, () => Promise.resolve(new Response('asked now')));
  const line = new AbortController();
  await fetch('/events', { signal: line.signal });
  expect(await textOf(fetch('/me'))).toBe('asked ahead');
  line.abort();
  expect(aborted).toEqual(['/events', '/list']);
  expect(await textOf(fetch('/list'))).toBe('asked now');
});

test('whoever took it can end it, before and after', async () => {
  const early = setUp(Promise.resolve(new Response('')));
  await early.fetch('/a', { signal: AbortSignal.abort('too early') });
  expect(early.aborted).toEqual(['too early']);

  const late = setUp(Promise.resolve(new Response('')));
  const ending = new AbortController();
  await late.fetch('/a', { signal: ending.signal });
  expect(late.aborted).toEqual([]);
  ending.abort('enough');
  expect(late.aborted).toEqual(['enough']);
});

import { expect, test } from 'vitest';
import { FailureError } from '@roost/protocol';
import { followHub, type HubNews } from './follow-hub.ts';

const RUN = '0123456789abcdef';
const alive = (id: number): string => `event: alive\nid: ${RUN}-${id}\ndata: {}\n\n`;
const stopped = (id: number): string =>
  `id: ${RUN}-${id}\ndata: ${JSON.stringify({
    id,
    run: RUN,
    nodeId: 'aaaaaaaaaaaaaaaa',
    sequence: null,
    at: '2026-01-01T00:00:00Z',
    body: { kind: 'node-stopped' },
  })}\n\n`;

/** A hub that answers its connections one after the other with these; the last stays open. */
function hub(answers: readonly (string | FailureError)[]) {
  const paths: string[] = [];
  const open = (path: string, _: unknown, signal: AbortSignal): Promise<Response> => {
    const answer = answers[Math.min(paths.length, answers.length - 1)];
    const isLast = paths.length >= answers.length - 1;
    paths.push(path);
    if (answer instanceof FailureError) return Promise.reject(answer);
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(answer));
        if (!isLast) controller.close();
        else signal.addEventListener('abort', () => controller.error(signal.reason), { once: true });
      },
    });
    return Promise.resolve(new Response(body));
  };
  return { paths, open };
}

async function newsUntil(answers: readonly (string | FailureError)[], isLast: (news: HubNews) => boolean) {
  const ending = new AbortController();
  const api = hub(answers);
  const told: string[] = [];
  for await (const news of followHub({ api, signal: ending.signal })) {
    told.push(news.kind === 'event' ? `event ${news.event.id}` : news.kind);
    if (isLast(news)) ending.abort();
  }
  return { told, paths: api.paths };
}

test('after a loss it goes on after the last cursor, which moves without events too', async () => {
  const { told, paths } = await newsUntil(
    [alive(3) + stopped(4) + alive(6), stopped(7)],
    (news) => news.kind === 'event' && news.event.id === 7,
  );
  expect(told).toEqual(['connected', 'event 4', 'lost', 'connected', 'event 7']);
  expect(paths).toEqual(['/api/v1/events', `/api/v1/events?after=${RUN}-6`]);
});

test('what is not held any more is told as a resync in its place', async () => {
  const { told } = await newsUntil(
    [alive(1), `event: resync\nid: ${RUN}-9\ndata: {}\n\n${stopped(10)}`],
    (news) => news.kind === 'event',
  );
  expect(told).toEqual(['connected', 'lost', 'connected', 'resync', 'event 10']);
});

test('events of a kind that is not known here are left out, and the cursor passes them', async () => {
  const strange = `id: ${RUN}-5\ndata: {"id":5,"body":{"kind":"moon-phase"}}\n\n`;
  const { told, paths } = await newsUntil([alive(4) + strange, stopped(6)], (news) => news.kind === 'event');
  expect(told).toEqual(['connected', 'lost', 'connected', 'event 6']);
  expect(paths[1]).toBe(`/api/v1/events?after=${RUN}-5`);
});

test('a hub that is away is tried again; one that wants a login is not', async () => {
  const { told } = await newsUntil(
    [new FailureError('hub-unreachable'), alive(1)],
    (news) => news.kind === 'connected',
  );
  expect(told).toEqual(['lost', 'connected']);
  const refused = newsUntil([new FailureError('unauthenticated')], () => false);
  await expect(refused).rejects.toMatchObject({ failure: { code: 'unauthenticated' } });
});

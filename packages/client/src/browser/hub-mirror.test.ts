import { expect, test } from 'vitest';
import { FailureError, HubEvent, type NodeId } from '@roost/protocol';
import { eventually } from '../testing/eventually.ts';
import type { HubApi } from './hub-api.ts';
import { HubMirror } from './hub-mirror.ts';

const RUN = '0123456789abcdef';
const NODE = 'aaaaaaaaaaaaaaaa' as NodeId;
const AT = '2026-01-01T00:00:00Z';
const session = (name: string) => ({
  id: '1'.repeat(16),
  recordId: null,
  generation: 1,
  name,
  provider: 'claude',
  transport: 'pty',
  status: 'running',
  workspaceId: 'shop',
  size: null,
  createdAt: AT,
  endedAt: null,
  exitCode: null,
  exitSignal: null,
  endReason: null,
  attachedClients: 0,
});

/** A hub whose list of sessions and whose stream are in the hands of the test. */
function fakeHub() {
  const listed: {
    names: string[];
    /** The second page, where there is one. */
    later: Promise<string[]> | null;
    reads: number;
    refusal: FailureError | null;
  } = { names: [], later: null, reads: 0, refusal: null };
  let stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  let last = 0;
  const api = {
    open: (_: string, __: unknown, signal: AbortSignal) => {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          stream = controller;
          signal.addEventListener('abort', () => controller.error(signal.reason), { once: true });
        },
      });
      say(`event: alive\nid: ${RUN}-${last}\ndata: {}\n\n`);
      return Promise.resolve(new Response(body));
    },
    hub: async (name: string, { cursor }: { cursor?: string }) => {
      if (listed.refusal !== null) throw listed.refusal;
      if (name === 'nodes.list') return { nodes: [] };
      if (name === 'nodes.show') return { id: NODE };
      if (name !== 'sessions.list') return { records: [], workspaces: [], total: 0, next: null };
      const isFirst = cursor === undefined;
      if (isFirst) listed.reads++;
      const names = isFirst ? listed.names : ((await listed.later) ?? []);
      const sessions = names.map((one) => ({ ...session(one), nodeId: NODE, nodeName: 'mill' }));
      return { sessions, total: 0, next: isFirst && listed.later !== null ? 'second' : null };
    },
  } as unknown as HubApi;
  /** Answers how to let it go. */
  const holdSecondPage = (): ((names: string[]) => void) => {
    let letGo: (names: string[]) => void = () => undefined;
    listed.later = new Promise((resolve) => {
      letGo = resolve;
    });
    return letGo;
  };
  const say = (text: string): void => stream?.enqueue(new TextEncoder().encode(text));
  const tell = (body: unknown): void => {
    last++;
    const event = HubEvent.parse({ id: last, run: RUN, nodeId: NODE, sequence: null, at: AT, body });
    say(`id: ${RUN}-${last}\ndata: ${JSON.stringify(event)}\n\n`);
  };
  return { api, listed, holdSecondPage, say, tell, lose: () => stream?.close() };
}

function mirrorOf(
  hub: ReturnType<typeof fakeHub>,
  schedule: (call: () => void) => void = (call) => setImmediate(call),
) {
  const ending = new AbortController();
  let now = 0;
  const mirror = new HubMirror({ api: hub.api, now: () => ++now, schedule });
  const running = mirror.run(ending.signal);
  const names = () => [...(mirror.state().view?.sessions.values() ?? [])].map(({ name }) => name);
  return { mirror, names, end: () => (ending.abort(), running) };
}

test('lists are read once the line is there, and events continue them', async () => {
  const hub = fakeHub();
  hub.listed.names = ['first'];
  const { mirror, names, end } = mirrorOf(hub);
  await eventually(names).toEqual(['first']);
  hub.tell({ kind: 'session-changed', session: session('renamed') });
  await eventually(names).toEqual(['renamed']);
  expect(mirror.state().line).toBe('live');
  expect(hub.listed.reads).toBe(1);
  await end();
});

test('a lost line keeps what was known and since when; what was between is not read again when it is continued', async () => {
  const hub = fakeHub();
  hub.listed.names = ['first'];
  const { mirror, names, end } = mirrorOf(hub);
  await eventually(names).toEqual(['first']);
  const lines: string[] = [];
  mirror.subscribe(() => lines.push(mirror.state().line));
  hub.lose();
  await eventually(() => lines).toEqual(['lost', 'live']);
  hub.tell({ kind: 'session-changed', session: session('after') });
  await eventually(names).toEqual(['after']);
  expect(hub.listed.reads).toBe(1);
  await end();
});

test('a resync reads the lists anew', async () => {
  const hub = fakeHub();
  hub.listed.names = ['first'];
  const { names, end } = mirrorOf(hub);
  await eventually(names).toEqual(['first']);
  hub.listed.names = ['second'];
  hub.say(`event: resync\nid: ${RUN}-9\ndata: {}\n\n`);
  await eventually(names).toEqual(['second']);
  await end();
});

test('of long lists the beginning is there before they are read, and gone after', async () => {
  const hub = fakeHub();
  hub.listed.names = ['first'];
  const tellLater = hub.holdSecondPage();
  const { mirror, names, end } = mirrorOf(hub);
  const begun = () => [...(mirror.state().beginning?.sessions.values() ?? [])].map(({ name }) => name);
  await eventually(begun).toEqual(['first']);
  expect(mirror.state()).toMatchObject({ view: null, line: 'connecting' });
  tellLater(['last']);
  await eventually(() => mirror.state().line).toBe('live');
  expect(names()).toEqual(['last']);
  expect(mirror.state().beginning).toBeNull();
  await end();
});

test('what was begun by a run that was ended is not shown by the next', async () => {
  const hub = fakeHub();
  hub.listed.names = ['first'];
  const tellLater = hub.holdSecondPage();
  const { mirror, end } = mirrorOf(hub);
  await eventually(() => mirror.state().beginning === null).toBe(false);
  const ended = end();
  const ending = new AbortController();
  const running = mirror.run(ending.signal);
  expect(mirror.state()).toMatchObject({ view: null, beginning: null, line: 'connecting' });
  ending.abort();
  tellLater([]);
  await Promise.all([ended, running]);
});

test('what is read anew is shown when it is whole', async () => {
  const hub = fakeHub();
  hub.listed.names = ['first'];
  const { mirror, names, end } = mirrorOf(hub);
  await eventually(names).toEqual(['first']);
  hub.listed.names = ['second'];
  const tellLater = hub.holdSecondPage();
  hub.say(`event: resync\nid: ${RUN}-9\ndata: {}\n\n`);
  await eventually(() => hub.listed.reads).toBe(2);
  expect(names()).toEqual(['first']);
  expect(mirror.state().beginning).toBeNull();
  tellLater(['second']);
  await eventually(names).toEqual(['second']);
  await end();
});

test('a node whose view was made anew is read again, alone', async () => {
  const hub = fakeHub();
  hub.listed.names = ['first'];
  const { names, end } = mirrorOf(hub);
  await eventually(names).toEqual(['first']);
  hub.listed.names = ['other'];
  hub.tell({ kind: 'node-resynced' });
  await eventually(names).toEqual(['other']);
  await end();
});

test('who is not logged in any more ends it, until it is run again', async () => {
  const hub = fakeHub();
  hub.listed.refusal = new FailureError('unauthenticated');
  const { mirror, end } = mirrorOf(hub);
  await eventually(() => mirror.state().line).toBe('ended');
  expect(mirror.state().error?.failure.code).toBe('unauthenticated');
  await end();
  hub.listed.refusal = null;
  const ending = new AbortController();
  const running = mirror.run(ending.signal);
  expect(mirror.state()).toMatchObject({ line: 'connecting', error: null });
  await eventually(() => mirror.state().line).toBe('live');
  ending.abort();
  await running;
});

test('what is run again shows nothing of the run before, and reads everything anew', async () => {
  const hub = fakeHub();
  hub.listed.names = ['first'];
  const { mirror, names, end } = mirrorOf(hub);
  await eventually(names).toEqual(['first']);
  await end();
  hub.listed.names = ['second'];
  const ending = new AbortController();
  const running = mirror.run(ending.signal);
  expect(mirror.state()).toMatchObject({ view: null, beginning: null, line: 'connecting' });
  await eventually(names).toEqual(['second']);
  ending.abort();
  await running;
});

test('events do not pile up where what is scheduled never comes', async () => {
  const hub = fakeHub();
  hub.listed.names = ['first'];
  const { names, end } = mirrorOf(hub, () => undefined);
  await eventually(names).toEqual(['first']);
  for (let count = 1; count <= 500; count += 1)
    hub.tell({ kind: 'session-changed', session: session(`name-${count}`) });
  await eventually(names).toEqual(['name-500']);
  await end();
});

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { NodeConnection } from '@roost/client';
import { encodeFrame, encodeJsonFrame, TerminalFrameKind } from '@roost/protocol/terminal-frames';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { attackCount } from '../support/counts.ts';
import { LaneViewer } from '../support/lane-viewer.ts';
import { connectTo } from '../support/node-client.ts';
import { forgetPeak, MIB, openDescriptors, peakResidentBytes } from '../support/process-facts.ts';
import {
  frameHeader,
  HANDSHAKE,
  HELLO,
  openRaw,
  openReady,
  webSocketFrame,
} from '../support/raw-web-socket.ts';
import { LAB_AGENT, RoostHome } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';

/** The keeper's frame that holds JSON. */
const CONTROL = 64;
/**
 * One client may make the node hold 32 MiB of unread answers; the runtime has 80 MiB, and collects late what pages of a long
 * journal leave behind (seen: 342 MiB with 5,000 events).
 */
const NODE_PEAK_BYTES_MAX = 512 * MIB;
const KEEPER_PEAK_BYTES_MAX = 320 * MIB;
/** Connections that say nothing are cut off after 5 s. */
const CUT_OFF_MS = 15_000;

let roost: RoostHome;
let connection: NodeConnection;
let witness: LaneViewer;
let pids: { node: number; keepers: number[] };
let paths: { node: string; keeper: string };
let words = 0;
const open = new Set<Socket>();

beforeAll(async () => {
  roost = new RoostHome();
  const { id } = await roost.run('witness', ['cat']);
  connection = await connectTo(roost);
  const grant = await connection.request('session.attach', { sessionId: id, mode: 'drive' });
  witness = new LaneViewer(grant);
  await witness.attached();
  pids = { node: await roost.nodePid(), keepers: roost.keeperPids() };
  paths = { node: join(roost.home, 'node.sock'), keeper: grant.endpoint };
});
afterAll(async () => {
  connection.close();
  witness[Symbol.dispose]();
  await roost[Symbol.asyncDispose]();
});

let before: { node: number; keeper: number };
beforeEach(() => {
  for (const pid of [pids.node, ...pids.keepers]) forgetPeak(pid);
  before = { node: openDescriptors(pids.node), keeper: openDescriptors(pids.keepers[0] ?? 0) };
});

/** Whoever behaves is served as if nothing had been. */
async function expectServed(): Promise<void> {
  expect((await connection.request('node.status', {}, { timeoutMs: 10_000 })).pid).toBe(pids.node);
  const word = `word-${(words += 1)}`;
  witness.type(`${word}\r`);
  await waitFor(
    'the witness to echo',
    async () => (await witness.lines()).filter((line) => line === word).length === 2,
    {
      state: () => witness.lines(),
    },
  );
  expect(roost.keeperPids()).toEqual(pids.keepers);
}

async function expectNothingLeft(): Promise<void> {
  for (const socket of open) socket.destroy();
  open.clear();
  await waitFor(
    'every connection to be closed',
    () => openDescriptors(pids.node) <= before.node && openDescriptors(pids.keepers[0] ?? 0) <= before.keeper,
    { state: () => [before, openDescriptors(pids.node), openDescriptors(pids.keepers[0] ?? 0)] },
  );
  expect(await roost.nodePid()).toBe(pids.node);
  expect(peakResidentBytes(pids.node)).toBeLessThan(NODE_PEAK_BYTES_MAX);
  for (const pid of pids.keepers) expect(peakResidentBytes(pid)).toBeLessThan(KEEPER_PEAK_BYTES_MAX);
}

async function send(
  path: string,
  pieces: readonly (string | Uint8Array)[],
  connect: (path: string) => Promise<Socket> = openRaw,
): Promise<Socket> {
  const socket = await connect(path);
  open.add(socket);
  socket.resume();
  for (const piece of pieces) {
    if (!socket.writable) break;
    socket.write(piece);
    // Separately on the wire, not joined.
    await delay(5);
  }
  return socket;
}

const request = (value: unknown) => webSocketFrame(JSON.stringify(value));
const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
const control = (value: unknown) => encodeJsonFrame(CONTROL, value);
const keeperHello = control({ kind: 'hello', wire: { min: 1, max: 1 } });
const lengthOf = (length: number) => {
  const header = Buffer.alloc(5);
  header.writeUInt32BE(length);
  header[4] = CONTROL;
  return header;
};

const TO_NODE: [string, (string | Uint8Array)[]][] = [
  ['nothing', []],
  ['random bytes', [randomBytes(100_000)]],
  ['an endless header', ['GET / HTTP/1.1\r\n', `X: ${'x'.repeat(200_000)}`]],
  ['half a handshake', [HANDSHAKE.slice(0, 60)]],
  ['a plain request', ['GET / HTTP/1.1\r\nHost: x\r\n\r\n']],
  ['random bytes for frames', [HANDSHAKE, randomBytes(100_000)]],
  ['half a frame', [HANDSHAKE, webSocketFrame(HELLO).subarray(0, 40)]],
  ['a hello of a megabyte', [HANDSHAKE, webSocketFrame('x'.repeat(1_000_000))]],
  [
    'a request before hello',
    [HANDSHAKE, request({ kind: 'request', id: 1, operation: 'node.status', params: {} })],
  ],
  ['hello twice', [HANDSHAKE, webSocketFrame(HELLO), webSocketFrame(HELLO)]],
  ['a frame of 8 EiB', [HANDSHAKE, frameHeader(2n ** 63n - 1n), randomBytes(1_000)]],
  ['JSON without a floor for hello', [HANDSHAKE, webSocketFrame(deep)]],
];

/** By one that holds the token. */
const TO_READY_NODE: [string, (string | Uint8Array)[]][] = [
  ['a frame of 8 EiB', [frameHeader(2n ** 63n - 1n), randomBytes(1_000)]],
  ['a frame of 1 GiB, begun', [frameHeader(2n ** 30n), randomBytes(1_000_000)]],
  ['a frame beyond the bound', [webSocketFrame('x'.repeat(300_000))]],
  ['hello again', [webSocketFrame(HELLO)]],
  ['no JSON', [webSocketFrame('{"kind":')]],
  ['no UTF-8', [webSocketFrame(Buffer.from([0xff, 0xfe, 0x80]))]],
  ['binary frames', [webSocketFrame(randomBytes(1_000), 0x2)]],
  ['JSON without a floor', [webSocketFrame(deep)]],
  [
    'parameters without a floor',
    [webSocketFrame(`{"kind":"request","id":1,"operation":"node.status","params":${deep}}`)],
  ],
  [
    'names of another kind of operation',
    ['__proto__', 'constructor', 'toString', ''].map((operation, id) =>
      request({ kind: 'request', id, operation, params: {} }),
    ),
  ],
  [
    'one request id a thousand times',
    [
      Buffer.concat(
        Array.from({ length: 1_000 }, () =>
          request({ kind: 'request', id: 1, operation: 'events.read', params: { after: 0 } }),
        ),
      ),
    ],
  ],
  [
    'parts of requests that never end',
    [
      Buffer.concat(
        Array.from({ length: 400 }, (_, at) =>
          request({ kind: 'part', id: at % 4, text: 'x'.repeat(200_000), last: false }),
        ),
      ),
    ],
  ],
  [
    'parts of more requests than anybody needs',
    [
      Buffer.concat(
        Array.from({ length: 1_000 }, (_, id) => request({ kind: 'part', id, text: '{', last: false })),
      ),
    ],
  ],
];

const TO_KEEPER: [string, (string | Uint8Array)[]][] = [
  ['nothing', []],
  ['random bytes', [randomBytes(100_000)]],
  ['a frame of no length', [lengthOf(0)]],
  ['a frame of 4 GiB', [lengthOf(0xffff_ffff), randomBytes(1_000)]],
  ['a frame of 60 MiB, begun', [lengthOf(60 * MIB), randomBytes(2_000_000)]],
  ['half a header', [Buffer.from([0, 0])]],
  ['half a hello', [keeperHello.subarray(0, 20)]],
  [
    'a hello of the future',
    [control({ kind: 'hello', wire: { min: 900, max: 901 } }), keeperHello, keeperHello],
  ],
  ['a hello that is none', [control([1, 2, 3])]],
  ['another kind of frame', [encodeFrame(200, randomBytes(100))]],
  [
    'a ticket that is none',
    [
      encodeJsonFrame(TerminalFrameKind.attach, {
        version: 1,
        ticket: 'x',
        columns: 80,
        rows: 24,
        window: 1,
      }),
    ],
  ],
  [
    'an attach without words',
    [encodeFrame(TerminalFrameKind.attach), encodeFrame(TerminalFrameKind.input, randomBytes(10))],
  ],
  ['no JSON', [keeperHello, encodeFrame(CONTROL, randomBytes(1_000))]],
  ['JSON without a floor', [keeperHello, encodeFrame(CONTROL, Buffer.from(deep))]],
  [
    'calls that are none',
    [
      keeperHello,
      ...['__proto__', 'constructor', 'nonsense', 7, null].map((call, id) =>
        control({ kind: 'request', id, call, params: {} }),
      ),
    ],
  ],
  [
    'calls with the wrong parameters',
    [
      keeperHello,
      ...[
        'spawn',
        'input',
        'resize',
        'stop',
        'readScreen',
        'grantAttach',
        'followOutput',
        'acknowledge',
        'release',
      ].flatMap((call, id) => [
        control({ kind: 'request', id, call }),
        control({
          kind: 'request',
          id,
          call,
          params: { sessionId: '__proto__', columns: -1, rows: 1e9, graceMs: 'x' },
        }),
      ]),
    ],
  ],
];

describe('a client of the node that sends', () => {
  it.each(TO_NODE)('%s harms nobody', async (_, pieces) => {
    await send(paths.node, pieces);
    await expectServed();
    await expectNothingLeft();
  });
});

describe('a client of the node that holds the token and sends', () => {
  it.each(TO_READY_NODE)('%s harms nobody', async (_, pieces) => {
    await send(paths.node, pieces, openReady);
    await expectServed();
    await expectNothingLeft();
  });
});

describe('a client of a keeper that sends', () => {
  it.each(TO_KEEPER)('%s harms nobody', async (_, pieces) => {
    await send(paths.keeper, pieces);
    await expectServed();
    await expectNothingLeft();
  });

  it('keys, sizes and take-overs without end, and reads nothing, harms nobody', async () => {
    const { id } = await roost.run('victim', ['cat']);
    const grants = await Promise.all(
      [1, 2].map(() => connection.request('session.attach', { sessionId: id, mode: 'drive' })),
    );
    const rivals = await Promise.all(grants.map(({ endpoint }) => openRaw(endpoint)));
    for (const [index, rival] of rivals.entries()) {
      open.add(rival);
      rival.pause();
      const attach = { version: 1, ticket: grants[index]?.ticket, columns: 80, rows: 24, window: 1 };
      rival.write(encodeJsonFrame(TerminalFrameKind.attach, attach));
    }
    await waitFor('both to be attached', async () => (await roost.session('victim')).attachedClients === 2);
    const burst = (rival: number) =>
      Buffer.concat(
        Array.from({ length: 200 }, (_, turn) => {
          const size = Buffer.alloc(4);
          size.writeUInt16BE(20 + ((turn + rival) % 200), 0);
          size.writeUInt16BE(5 + (turn % 50), 2);
          return Buffer.concat([
            encodeFrame(TerminalFrameKind.takeOver),
            encodeFrame(TerminalFrameKind.resize, size),
            encodeFrame(TerminalFrameKind.input, Buffer.from('x')),
          ]);
        }),
      );
    for (let round = 0; round < attackCount(400, 40); round += 1) {
      for (const [index, rival] of rivals.entries()) rival.write(burst(index));
      await delay(2);
    }
    await expectServed();
    await roost.ok(['stop', 'victim']);
    await roost.ok(['rm', 'victim']);
    await expectNothingLeft();
  });
});

describe('a client of a keeper that reads nothing', () => {
  it('and acknowledges everything, during a flood, costs bounded memory', async () => {
    const flood = [process.execPath, LAB_AGENT, '--flood', String(attackCount(300, 40) * 1_000_000)];
    const { id } = await roost.run('liar', ['sh', '-c', 'read go; exec "$@"', 'sh', ...flood, '--exit', '0']);
    const { ticket } = await connection.request('session.attach', { sessionId: id, mode: 'drive' });
    const socket = await openRaw(paths.keeper);
    open.add(socket);
    socket.pause();
    const attach = { version: 1, ticket, columns: 80, rows: 24, window: 8 * MIB };
    socket.write(encodeJsonFrame(TerminalFrameKind.attach, attach));
    socket.write(encodeFrame(TerminalFrameKind.input, Buffer.from('\r')));
    const everything = Buffer.alloc(4, 0xff);
    await waitFor(
      'the flood to end',
      async () => {
        socket.write(encodeFrame(TerminalFrameKind.acknowledge, everything));
        return (await connection.request('session.wait', { sessionId: id, waitMs: 0 })).status === 'exited';
      },
      { timeoutMs: 120_000, everyMs: 5 },
    );
    await expectServed();
    await expectNothingLeft();
    await roost.ok(['rm', 'liar']);
  });
});

/** Two events a time: how many times. */
async function makeEvents(times: number): Promise<void> {
  for (let round = 0; round < times; round += 1) {
    await connection.request('workspace.register', { root: roost.root, workspaceId: 'again-and-again' });
    await connection.request('workspace.unregister', { workspaceId: 'again-and-again' });
  }
}

/** Sends one request and waits for the first bytes of its answer; from then on nothing is read. */
async function openAsking(operation: string, params: unknown): Promise<Socket> {
  const socket = await openReady(paths.node);
  open.add(socket);
  socket.write(request({ kind: 'request', id: 0, operation, params }));
  socket.resume();
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.pause();
  expect(answer.toString('latin1')).toContain('"kind":"response","id":0,');
  return socket;
}

describe('a client of the node that reads nothing', () => {
  it('of the answers to its requests is cut off, and costs bounded memory', async () => {
    await makeEvents(100);
    const page = { after: 0, limit: 1_000 };
    const socket = await openAsking('events.read', page);
    // Answers of some 50 KB each: half a gigabyte in all.
    for (let id = 1; id < 10_000 && !socket.destroyed; id += 1) {
      const more = socket.write(request({ kind: 'request', id, operation: 'events.read', params: page }));
      if (!more) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), delay(500)]);
    }
    expect(socket.destroyed, 'cut off').toBe(true);
    await expectServed();
    await expectNothingLeft();
  });

  it('of the events that it subscribed to costs bounded memory', async () => {
    const sockets = await Promise.all(
      Array.from({ length: 14 }, () => openAsking('events.subscribe', { after: 0 })),
    );
    await makeEvents(attackCount(5_000, 150));
    expect(sockets).toHaveLength(14);
    await expectServed();
    await expectNothingLeft();
  });
});

describe('hundreds of connections that say nothing', () => {
  it('to the node are cut off, and a command is served meanwhile or soon after', async () => {
    for (let count = 0; count < 300; count += 1) open.add(await openRaw(paths.node));
    await expectServed();
    await waitFor(
      'a new command to be served',
      async () => (await roost.roost(['ls', '--no-start'])).code === 0,
      {
        timeoutMs: CUT_OFF_MS,
      },
    );
    await waitFor('the silent ones to be cut off', () => openDescriptors(pids.node) <= before.node, {
      timeoutMs: CUT_OFF_MS,
      state: () => [before.node, openDescriptors(pids.node)],
    });
    await expectNothingLeft();
  });

  it('but their proof to the node are bounded, the next is told why, and there is room again when they leave', async () => {
    const held: Socket[] = [];
    // Of those that are counted, some may be leaving.
    await waitFor('every place to be taken', async () => {
      const { connections } = await connection.request('node.status', {});
      for (let count = connections.open; count < connections.limit; count += 1) {
        const socket = await openReady(paths.node);
        open.add(socket);
        held.push(socket);
      }
      return connections.open === connections.limit;
    });
    const next = connectTo(roost);
    await expect(next).rejects.toMatchObject({ failure: { code: 'connections-exhausted' } });
    // A command waits a while for room.
    const listing = roost.roost(['ls', '--no-start']);
    await expectServed();
    held[0]?.destroy();
    expect((await listing).code).toBe(0);
    await expectNothingLeft();
  });

  it('to a keeper are cut off, and attaching works meanwhile or soon after', async () => {
    for (let count = 0; count < 300; count += 1) open.add(await openRaw(paths.keeper));
    await expectServed();
    const keeper = pids.keepers[0] ?? 0;
    await waitFor('the silent ones to be cut off', () => openDescriptors(keeper) <= before.keeper, {
      timeoutMs: CUT_OFF_MS,
      state: () => [before.keeper, openDescriptors(keeper)],
    });
    await expectNothingLeft();
  });
});

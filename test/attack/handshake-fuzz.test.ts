/**
 * Garbage near to what is valid, by the hundred thousand, at a real node: as handshakes, as requests and their parts, and as
 * bytes of the WebSocket below them. The node neither ends, nor hangs, nor grows; each refusal has a code and is counted.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NodeConnection } from '@roost/client';
import { FAILURE_CODES, HANDSHAKE_FRAME_BYTES_MAX, OFFERED_CAPABILITIES } from '@roost/protocol';
import { makeNonce, parseToken, type Token } from '@roost/protocol/node';
import { attackCount } from '../support/counts.ts';
import { answerChallenge, FuzzConnection, type Seen } from '../support/fuzz-connection.ts';
import { nearby, seededRandom, spoilBytes, type Json } from '../support/mutate.ts';
import { connectTo, spawnCommand } from '../support/node-client.ts';
import { MIB, openDescriptors, residentBytes } from '../support/process-facts.ts';
import { webSocketFrame } from '../support/raw-web-socket.ts';
import { RoostHome } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';

const FRAMES = attackCount(200_000, 10_000);
/** Connections at once; the node's places are 16. */
const WORKERS = 6;
/** Frames that are sent before an answer is waited for. */
const BATCH = 24;
/** After so many batches a connection has enough requests that wait for something. */
const BATCHES_PER_CONNECTION = 40;
/** Milliseconds that any answer may take while all this goes on. */
const ANSWER_MS = 10_000;
const GROWTH_BYTES_MAX = 96 * MIB;
/** Close codes of what is no WebSocket, no text, no UTF-8, no frame of this protocol, too long. */
const CLOSINGS: readonly number[] = [1002, 1003, 1007, 1008, 1009];
/** Ids of our own requests; garbage rarely comes upon them. */
const SENTINELS_FROM = 2 ** 50;

const seed = Number(process.env.ROOST_FUZZ_SEED ?? Date.now() % 2 ** 31);
const random = seededRandom(seed);

let roost: RoostHome;
let control: NodeConnection;
let token: Token;
let path: string;
let pid: number;
let corpus: Json[];

beforeAll(async () => {
  roost = new RoostHome();
  await roost.ok(['ls']);
  control = await connectTo(roost);
  path = join(roost.home, 'node.sock');
  const held = parseToken(readFileSync(join(roost.home, 'node.token'), 'utf8'));
  if (held === null) throw new Error('no token');
  token = held;
  pid = (await control.request('node.status', {})).pid;
  // Reads whatever is typed, and no key ends it.
  const program = ['sh', '-c', 'stty raw -echo; exec cat > /dev/null'];
  const session = await spawnCommand(control, roost.work, program, { name: 'target' });
  corpus = requestsOf(session);
});
afterAll(async () => {
  control.close();
  await roost[Symbol.asyncDispose]();
});

/** Valid requests, recorded as a client sends them. Nothing in them starts a process or ends one. */
function requestsOf({
  id,
  workspaceId,
  generation,
}: {
  id: string;
  workspaceId: string;
  generation: number;
}): Json[] {
  const address = { workspaceId, sessionId: id, generation };
  const nowhere = { ...address, sessionId: '0'.repeat(16) };
  const spec = {
    target: { nodeId: control.node.id, workspaceId },
    profileId: 'none',
    expectedRevision: 'r1',
    overrides: {
      provider: { kind: 'set', value: 'claude' },
      size: { kind: 'set', value: { columns: 80, rows: 24 } },
    },
    deadlineMs: 1_000,
    idempotencyKey: 'key',
  };
  const asked: [string, Json, boolean][] = [
    ['node.status', {}, false],
    ['node.snapshot', { changedAfter: 1 }, false],
    ['provider.list', {}, false],
    ['profile.list', {}, false],
    ['controller.show', {}, false],
    ['controller.acquire', { leaseMs: 1_000, takeOver: true }, false],
    ['controller.release', {}, false],
    ['workspace.list', {}, false],
    ['workspace.register', { root: join(roost.root, 'not-there'), workspaceId: 'fuzz' }, true],
    ['workspace.unregister', { workspaceId: 'fuzz' }, true],
    ['spawn.submit', spec, true],
    ['spawn.result', { idempotencyKey: 'key' }, false],
    [
      'session.spawn',
      {
        directory: join(roost.root, 'not-there'),
        launch: { kind: 'command', command: ['true'] },
        transport: 'pty',
      },
      true,
    ],
    ['session.list', { includeEnded: true, withUsage: false }, false],
    ['session.resolve', { selector: 'target' }, false],
    ['session.readScreen', { sessionId: id }, false],
    ['session.readOutput', { sessionId: id, stream: 'stdout', offset: 0 }, false],
    ['session.followOutput', { sessionId: id, stream: 'stdout', offset: -10 }, false],
    ['session.prompt', { ...nowhere, text: 'hello' }, true],
    ['session.paste', { ...address, text: 'some text\nand more' }, true],
    ['session.sendBytes', { ...address, base64: 'aGVsbG8=' }, true],
    ['session.resize', { ...address, size: { columns: 100, rows: 30 } }, true],
    ['session.interrupt', nowhere, true],
    ['session.stop', { ...nowhere, graceMs: 10, force: true }, true],
    ['session.remove', nowhere, true],
    ['session.resume', nowhere, true],
    ['session.wait', { sessionId: id, waitMs: 20 }, false],
    ['record.list', {}, false],
    ['record.rename', { recordId: '0'.repeat(16), name: 'other' }, true],
    ['record.forget', { recordId: '0'.repeat(16) }, true],
    ['screen.watch', { sessions: [id] }, false],
    ['screen.unwatch', {}, false],
    ['events.read', { after: -5, limit: 5 }, false],
    ['events.subscribe', { after: 1, incarnation: control.node.incarnation }, false],
  ];
  return asked.map(([operation, params, brief]) => ({
    kind: 'request',
    id: 0,
    operation,
    params,
    deadlineMs: 2_000,
    ...(brief ? { lease: 'brief' } : {}),
  }));
}

const hellos = (): Json[] =>
  (['operator', 'observer'] as const).map((role) => ({
    kind: 'hello',
    role,
    nonce: makeNonce(),
    protocol: { min: 2, max: 2 },
    capabilities: [...OFFERED_CAPABILITIES],
    client: { name: `fuzz-${role}`, version: '1' },
  }));

/** What came back, over all connections. */
const tally = {
  frames: 0,
  responses: 0,
  failures: new Map<string, number>(),
  refusals: new Map<string, number>(),
  closings: new Map<number, number>(),
};

function count<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
const sum = (counts: Iterable<number>) => [...counts].reduce((total, one) => total + one, 0);

function note({ kind, code, text }: Seen): void {
  if (kind === 'response') tally.responses += 1;
  if (code === null) return;
  if (!FAILURE_CODES.some((one) => one === code)) throw new Error(`a failure without a known code: ${text}`);
  count(kind === 'refused' ? tally.refusals : tally.failures, code);
}

async function within<Value>(what: string, promise: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited in vain for ${what}`)), ANSWER_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A connection that has proved itself; `asked` waits until what was sent before was judged. */
class Served {
  readonly connection: FuzzConnection;
  readonly #hear: { frame: (seen: Seen) => void };
  #sentinel = SENTINELS_FROM;

  private constructor(connection: FuzzConnection, hear: { frame: (seen: Seen) => void }) {
    this.connection = connection;
    this.#hear = hear;
  }

  static async open(): Promise<Served> {
    const hear: { frame: (seen: Seen) => void } = { frame: () => undefined };
    const hello = Buffer.from(JSON.stringify(hellos()[0]));
    const connection = await FuzzConnection.open(path, (seen) => hear.frame(seen));
    const ready = new Promise<void>((resolve, reject) => {
      hear.frame = ({ kind, text }) => {
        if (kind === 'challenge') connection.sendText(answerChallenge(token, hello, text));
        else if (kind === 'ready') resolve();
        else reject(new Error(`no way in: ${text}`));
      };
    });
    connection.sendText(hello);
    await within('a place', ready);
    hear.frame = note;
    return new Served(connection, hear);
  }

  /** Whether the connection still serves. When the node ended it, it said why. */
  async serves(): Promise<boolean> {
    const id = (this.#sentinel += 1);
    const answered = new Promise<'answered'>((resolve) => {
      this.#hear.frame = (seen) => {
        if (seen.id === id) resolve('answered');
        else note(seen);
      };
    });
    this.connection.sendText(
      JSON.stringify({ kind: 'request', id, operation: 'controller.show', params: {} }),
    );
    const outcome = await within('an answer or a closing', Promise.race([answered, this.connection.closed]));
    if (outcome === 'answered') return true;
    if (outcome.code === null || !CLOSINGS.includes(outcome.code)) {
      throw new Error(`closed with ${outcome.code ?? 'no code'}`);
    }
    count(tally.closings, outcome.code);
    return false;
  }
}

/** Text of a spoiled frame, and whether the node will probably end the connection for it. */
interface Garbage {
  readonly before: readonly string[];
  readonly text: Buffer;
  readonly ends: boolean;
}

function endsConnection(text: Buffer): boolean {
  try {
    const value = JSON.parse(text.toString()) as { kind?: unknown; id?: unknown; last?: unknown } | null;
    if (typeof value !== 'object' || value === null || !Number.isSafeInteger(value.id)) return true;
    return value.kind !== 'request' && (value.kind !== 'part' || value.last !== true);
  } catch {
    return true;
  }
}

/** Requests and parts, a thousand at a time; about a sixth of them with spoiled bytes. */
function makeGarbage(amount: number): Garbage[] {
  const shapes = fc.sample(nearby(corpus, ['kind', 'id', 'operation']), {
    numRuns: amount,
    seed: Math.floor(random() * 2 ** 31),
  });
  return shapes.map((shape, index) => {
    const id = 1 + Math.floor(random() * 2 ** 40);
    const valid = { ...(corpus[index % corpus.length] as object), id };
    const isOfShape = random() < 0.85;
    const request = isOfShape ? withId(shape, id) : valid;
    let frames = [JSON.stringify(request)];
    if (random() < 0.15) frames = inParts(id, frames[0] ?? '');
    const last = Buffer.from(frames.pop() ?? '');
    const other = Buffer.from(JSON.stringify(corpus[Math.floor(random() * corpus.length)]));
    const text = isOfShape ? last : spoilBytes(last, other, random);
    return { before: frames, text, ends: endsConnection(text) };
  });
}

function withId(shape: Json, id: number): Json {
  return typeof shape === 'object' && shape !== null && !Array.isArray(shape) && shape.id === 0
    ? { ...shape, id }
    : shape;
}

function inParts(id: number, text: string): string[] {
  const cut = Math.floor(random() * text.length);
  const pieces = random() < 0.5 ? [text] : [text.slice(0, cut), text.slice(cut)];
  return pieces.map((piece, index) =>
    JSON.stringify({ kind: 'part', id, text: piece, last: index === pieces.length - 1 }),
  );
}

async function fuzzRequests(amount: number): Promise<void> {
  let served = await Served.open();
  let batches = 0;
  for (let done = 0; done < amount;) {
    const garbage = makeGarbage(Math.min(1_000, amount - done));
    const calm = garbage.filter(({ ends }) => !ends);
    const endings = garbage.filter(({ ends }) => ends);
    while (calm.length > 0 || endings.length > 0) {
      const share = Math.ceil(calm.length / Math.max(1, endings.length));
      // What ends the connection comes last, and alone: all before it is judged and answered.
      const steps = [calm.splice(0, Math.min(BATCH, share)), endings.splice(0, 1)];
      let still = true;
      for (const batch of steps) {
        if (!still || batch.length === 0) continue;
        for (const { before, text } of batch) {
          for (const frame of before) served.connection.sendText(frame);
          served.connection.sendText(text);
        }
        still = await served.serves();
        done += batch.length;
        tally.frames += batch.length;
      }
      batches += 1;
      if (still && batches % BATCHES_PER_CONNECTION !== 0) continue;
      served.connection.end();
      await within('the end of a connection', served.connection.closed);
      served = await Served.open();
    }
  }
  served.connection.end();
  await within('the end of a connection', served.connection.closed);
}

/** One connection each: a spoiled hello, or a good one and a spoiled proof, or a request instead. */
async function fuzzHandshakes(amount: number): Promise<void> {
  for (let done = 0; done < amount;) {
    const part = Math.min(1_000, amount - done);
    const options = { numRuns: part, seed: Math.floor(random() * 2 ** 31) };
    const shapes = fc.sample(nearby(hellos(), ['kind']), options);
    const proofs = fc.sample(nearby([{ kind: 'authenticate', proof: makeNonce() }], ['kind']), options);
    for (let index = 0; index < part; index += 1) {
      const shaped = { hello: shapes[index] ?? null, proof: proofs[index] ?? null };
      await fuzzHandshake(HANDSHAKE_FAULTS[index % HANDSHAKE_FAULTS.length] ?? 'hello', shaped);
      tally.frames += 1;
    }
    done += part;
  }
}

const HANDSHAKE_FAULTS = [
  'hello',
  'hello range',
  'hello bytes',
  'proof',
  'proof bytes',
  'wrong proof',
  'request',
] as const;

async function fuzzHandshake(
  fault: (typeof HANDSHAKE_FAULTS)[number],
  shaped: { readonly hello: Json; readonly proof: Json },
): Promise<void> {
  const good = Buffer.from(JSON.stringify(hellos()[Math.floor(random() * 2)]));
  const request = Buffer.from(JSON.stringify(corpus[Math.floor(random() * corpus.length)]));
  const firstFrame = (): Buffer => {
    if (fault === 'hello') return Buffer.from(JSON.stringify(shaped.hello));
    if (fault === 'hello range') {
      const [min, max] = [Math.floor(random() * 5), Math.floor(random() * 5)];
      return Buffer.from(JSON.stringify({ ...(hellos()[0] as object), protocol: { min, max } }));
    }
    return fault === 'hello bytes' ? spoilBytes(good, request, random) : good;
  };
  const secondFrame = (challenge: string): Buffer => {
    const answer = Buffer.from(answerChallenge(token, good, challenge));
    switch (fault) {
      case 'proof':
        return Buffer.from(JSON.stringify(shaped.proof));
      case 'wrong proof':
        return Buffer.from(JSON.stringify({ kind: 'authenticate', proof: makeNonce() }));
      case 'request':
        return request;
      default:
        return spoilBytes(answer, request, random);
    }
  };
  let settle: () => void = () => undefined;
  const settled = new Promise<void>((resolve) => (settle = resolve));
  const told: { refused: boolean } = { refused: false };
  let longest = 0;
  const send = (frame: Buffer): void => {
    longest = Math.max(longest, frame.length);
    connection.sendText(frame);
  };
  const connection = await FuzzConnection.open(path, (seen) => {
    note(seen);
    if (seen.kind === 'refused') told.refused = true;
    else if (seen.kind === 'challenge' && !fault.startsWith('hello')) {
      send(secondFrame(seen.text));
    } else settle();
  });
  send(firstFrame());
  const closing = await within('a judgement', Promise.race([settled, connection.closed]));
  if (closing === undefined) {
    // The change was none that matters: a challenge, or ready.
    connection.end();
    await within('the end of a connection', connection.closed);
  } else if (!told.refused) {
    // What is far too long is not read to its end: there is nobody to say a code to.
    const isCutOff = closing.code === null && longest > 3 * HANDSHAKE_FRAME_BYTES_MAX;
    if (!isCutOff && !CLOSINGS.includes(closing.code ?? 0)) {
      throw new Error(`a handshake of ${longest} bytes was closed with ${closing.code ?? 'no code'}`);
    }
    count(tally.closings, closing.code ?? 0);
  }
}

/** Below the protocol: frames whose header, mask or length is wrong. A node that waits for the rest is left alone with it. */
async function fuzzWebSocket(amount: number): Promise<void> {
  for (let done = 0; done < amount;) {
    const served = await Served.open();
    const frames = 1 + Math.floor(random() * 8);
    for (let index = 0; index < frames; index += 1) {
      const request = { ...(corpus[(done + index) % corpus.length] as object), id: index };
      const bytes = webSocketFrame(JSON.stringify(request));
      served.connection.sendRaw(spoilBytes(bytes, bytes, random));
    }
    served.connection.end();
    await within('the end of a connection', served.connection.closed);
    done += frames;
    tally.frames += frames;
  }
}

/** Asks like everybody else, all the time; tells the slowest answer. */
async function witness(isOver: () => boolean): Promise<number> {
  let slowest = 0;
  while (!isOver()) {
    const began = performance.now();
    await control.request('node.status', {}, { timeoutMs: ANSWER_MS });
    slowest = Math.max(slowest, performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return slowest;
}

const everywhere = (fuzz: (amount: number) => Promise<void>, amount: number) =>
  Promise.all(Array.from({ length: WORKERS }, () => fuzz(Math.ceil(amount / WORKERS))));

test('garbage near to what is valid is refused with a code, is counted, and costs the node nothing that stays', async () => {
  const began = performance.now();
  const before = (await control.request('node.status', {})).connections.refused;
  const descriptors = openDescriptors(pid);
  let isOver = false;
  const slowest = witness(() => isOver);
  // Told where it is awaited, also when something else fails first.
  slowest.catch(() => undefined);
  // Memory is measured from where caches and compiled code have settled.
  await everywhere(fuzzRequests, FRAMES * 0.2);
  const [warm, total] = [residentBytes(pid), FRAMES - tally.frames];
  await everywhere(fuzzHandshakes, total * 0.1);
  await everywhere(fuzzRequests, total * 0.8);

  const { refused } = (await control.request('node.status', {})).connections;
  const counted = sum(Object.entries(refused).map(([reason, times]) => times - (before[reason] ?? 0)));
  const ended = sum(tally.refusals.values()) + sum(tally.closings.values());
  expect(counted).toBeGreaterThanOrEqual(ended);
  // A request that cannot be read is counted, too, and answered with this failure; so are others that are not counted.
  expect(counted).toBeLessThanOrEqual(ended + (tally.failures.get('invalid-request') ?? 0));
  expect(refused.unauthorized).toBe(tally.refusals.get('unauthorized'));
  for (const reason of ['handshake-timeout', 'answers-unread', 'write-deadline', 'no-pong', 'accept-error'])
    expect(refused).not.toHaveProperty(reason);

  await everywhere(fuzzWebSocket, FRAMES - tally.frames);
  isOver = true;
  const facts = {
    seed,
    seconds: Math.round((performance.now() - began) / 1_000),
    frames: tally.frames,
    responses: tally.responses,
    failures: Object.fromEntries(tally.failures),
    refusals: Object.fromEntries(tally.refusals),
    closings: Object.fromEntries(tally.closings),
    refused,
    slowestMs: Math.round(await slowest),
    grownMiB: Math.round((residentBytes(pid) - warm) / MIB),
  };
  process.stdout.write(`${JSON.stringify(facts)}\n`);
  expect(tally.frames).toBeGreaterThanOrEqual(FRAMES);
  // Each way in was walked, and each way out.
  expect(tally.responses).toBeGreaterThan(FRAMES / 100);
  for (const code of ['invalid-request', 'unknown-operation', 'unknown-session'])
    expect(facts.failures, code).toHaveProperty(code);
  for (const code of ['invalid-request', 'unauthorized', 'unsupported-protocol'])
    expect(facts.refusals, code).toHaveProperty(code);
  expect(facts.failures).not.toHaveProperty('internal-error');
  await waitFor('every connection to be gone', () => openDescriptors(pid) <= descriptors, {
    state: () => [descriptors, openDescriptors(pid)],
  });
  expect((await control.request('node.status', {})).pid).toBe(pid);
  expect((await control.request('session.resolve', { selector: 'target' })).status).toBe('running');
  expect(residentBytes(pid) - warm, JSON.stringify(facts)).toBeLessThan(GROWTH_BYTES_MAX);
});

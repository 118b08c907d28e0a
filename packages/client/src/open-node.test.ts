import { createRequire } from 'node:module';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openNode } from './open-node.ts';
import { startNode } from './start-node.ts';
import { FAKE_SELECTION, FAKE_TOKEN, FakeNode, scratchDirectory } from './testing/fake-node.ts';

const client = { name: 'test', version: '0' };
let scratch: Awaited<ReturnType<typeof scratchDirectory>>;
let home: string;

beforeEach(async () => {
  scratch = await scratchDirectory();
  home = join(scratch.path, 'home');
});
afterEach(async () => {
  endDaemon();
  await scratch[Symbol.asyncDispose]();
});

function endDaemon(): void {
  if (!existsSync(join(home, 'pid'))) return;
  const pid = Number(readFileSync(join(home, 'pid'), 'utf8'));
  // Nought would be our own process group.
  if (!(pid > 1)) throw new Error('the daemon left no pid');
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}

/** A daemon: `body` decides what it does; `say` writes the line that whoever started it waits for. */
function daemon(body: string): string {
  const script = join(scratch.path, 'daemon.cjs');
  const wsPath = createRequire(import.meta.url).resolve('ws');
  writeFileSync(
    script,
    `const fs = require('node:fs'); const http = require('node:http'); const { WebSocketServer } = require(${JSON.stringify(wsPath)});
     const home = process.argv[process.argv.indexOf('--home') + 1]; const readyFd = Number(process.argv[process.argv.indexOf('--ready-fd') + 1]);
     const say = (value) => fs.writeSync(readyFd, JSON.stringify(value) + '\\n');
     const token = ${JSON.stringify(FAKE_TOKEN)};
     const u32 = (length) => { const bytes = Buffer.alloc(4); bytes.writeUInt32BE(length); return bytes; };
     const challenge = (hello) => {
       const selection = JSON.stringify({ ...${JSON.stringify(FAKE_SELECTION)}, nonce: '0'.repeat(64) });
       const proof = require('node:crypto').createHmac('sha256', Buffer.from(token.slice(-64), 'hex'))
         .update('roost-node-auth-v1\\0\\x01').update(u32(hello.length)).update(hello)
         .update(u32(selection.length)).update(selection).digest('hex');
       return { kind: 'challenge', selection, proof };
     };
     const ready = { kind: 'ready', connectionId: 1, sequence: 0, controller: null };
     const serve = (then) => { const server = http.createServer();
       fs.writeFileSync(home + '/node.token', token);
       new WebSocketServer({ server }).on('connection', (socket) => socket.on('message', (data) =>
         socket.send(JSON.stringify(JSON.parse(data).kind === 'hello' ? challenge(data) : ready))));
       server.listen(home + '/node.sock', then); };
     fs.appendFileSync(home + '/starts', 'x');
     ${body}`,
  );
  return script;
}
const LOCKED = `let lock; try { lock = fs.openSync(home + '/lock', 'wx'); } catch { say({ failure: { code: 'node-already-running', message: '' } }); process.exit(1); }
  fs.writeFileSync(home + '/pid', String(process.pid));`;

test('callers that start at once end up at one node', async () => {
  const script = daemon(`${LOCKED} setTimeout(() => serve(() => say({ ready: true })), 150);`);
  const opened = await Promise.all(
    Array.from({ length: 4 }, () => openNode({ home, client, start: { script } })),
  );
  expect(opened.filter(({ started }) => started)).toHaveLength(1);
  for (const { connection } of opened) connection.close();
  expect(readFileSync(join(home, 'starts'), 'utf8').length).toBeGreaterThanOrEqual(4);
});

test('the node runs in a process session of its own, without the marks of the caller, and not in its directory', async () => {
  const script = daemon(
    `${LOCKED} fs.writeFileSync(home + '/seen', JSON.stringify({ env: process.env, cwd: process.cwd(), stat: fs.readFileSync('/proc/self/stat', 'utf8') })); serve(() => say({ ready: true }));`,
  );
  const env = { ...process.env, ROOST_SESSION_ID: 'abc', SOME_API_KEY: 'kept' };
  await startNode({ home, script, env });
  const seen = JSON.parse(readFileSync(join(home, 'seen'), 'utf8')) as {
    env: Record<string, string>;
    cwd: string;
    stat: string;
  };
  expect(seen.env).toMatchObject({ SOME_API_KEY: 'kept', ROOST_PROCESS: 'node' });
  expect(seen.env).not.toHaveProperty('ROOST_SESSION_ID');
  expect(seen.cwd).toBe('/');
  const [pid, , , , , session] = seen.stat.replace(/\(.*\)/, '()').split(' ');
  expect(session).toBe(pid);
});

test("the node's own reason is the failure", async () => {
  const script = daemon(
    `say({ failure: { code: 'database-corrupt', message: 'x', details: { path: '/db' } } });`,
  );
  await expect(openNode({ home, client, start: { script } })).rejects.toMatchObject({
    failure: { code: 'database-corrupt', details: { path: '/db' } },
  });
});

test('a node that dies before it is ready failed to start, and its last words are kept', async () => {
  const script = daemon(`console.error('no luck'); process.exit(9);`);
  await expect(startNode({ home, script })).rejects.toMatchObject({ failure: { code: 'node-start-failed' } });
  expect(readFileSync(join(home, 'logs', 'node.out'), 'utf8')).toContain('no luck');
});

test('a node that does not become ready in time failed to start', async () => {
  const script = daemon(`${LOCKED} setInterval(() => {}, 1000);`);
  await expect(startNode({ home, script, waitMs: 300 })).rejects.toMatchObject({
    failure: { code: 'node-start-failed' },
  });
  // It is ended by its pid.
  const pid = join(home, 'pid');
  await expect
    .poll(() => existsSync(pid) && readFileSync(pid, 'utf8') !== '', { timeout: 20_000 })
    .toBe(true);
});

test('a node that hangs is reported, and no second one is started', async () => {
  const script = daemon(LOCKED);
  await startNode({ home, script }).catch(() => undefined);
  const started = readFileSync(join(home, 'starts'), 'utf8').length;
  const node = await FakeNode.listen({ socketPath: join(home, 'node.sock'), shakesHands: false });
  await expect(openNode({ home, client, start: { script }, timeoutMs: 100 })).rejects.toMatchObject({
    failure: { code: 'node-unresponsive' },
  });
  expect(readFileSync(join(home, 'starts'), 'utf8')).toHaveLength(started);
  await node.close();
});

test('a full node is waited for, but not for ever', async () => {
  mkdirSync(home);
  let refusals = 0;
  let full = true;
  const node = await FakeNode.listen({
    socketPath: join(home, 'node.sock'),
    handshake: (frame) => {
      if (frame.kind !== 'ready' || !full) return frame;
      full = (refusals += 1) !== 2;
      return { kind: 'refused', failure: { code: 'connections-exhausted', message: 'x' } };
    },
  });
  const opened = await openNode({ home, client, start: null });
  opened.connection.close();
  expect(refusals).toBe(2);
  full = true;
  await expect(openNode({ home, client, start: null, waitMs: 200 })).rejects.toMatchObject({
    failure: { code: 'connections-exhausted' },
  });
  expect(refusals).toBeGreaterThan(3);
  await node.close();
});

test('without leave to start, nothing is started', async () => {
  await expect(openNode({ home, client, start: null })).rejects.toMatchObject({
    failure: { code: 'node-not-running' },
  });
  expect(existsSync(home)).toBe(false);
});

test('a home that cannot be made is unusable', async () => {
  writeFileSync(home, 'a file');
  const script = daemon('');
  await expect(startNode({ home, script })).rejects.toMatchObject({ failure: { code: 'home-unusable' } });
});

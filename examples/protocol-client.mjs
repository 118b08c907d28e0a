// A whole client of a node in one file: handshake, requests, events over a lost connection, the controller lease.
//   node examples/protocol-client.mjs < "$ROOST_HOME/node.token"
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import WebSocket from 'ws';

const socketPath = `${process.env.ROOST_HOME ?? `${process.env.HOME}/.roost`}/node.sock`;
let token = '';
for await (const chunk of process.stdin) token += chunk;
const key = Buffer.from(token.trim().replace('roost_operator_', ''), 'hex');

/** Direction 1 is the node's proof, 2 the client's. Both cover the hello and the selection, byte for byte. */
function proof(direction, hello, selection) {
  const hmac = createHmac('sha256', key).update('roost-node-auth-v1\0').update(Buffer.of(direction));
  for (const part of [hello, selection]) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(part.length);
    hmac.update(length).update(part);
  }
  return hmac.digest();
}

/** Resolves when the node is ready. `onPush` gets what is no answer: events, resync-required. */
function connect(onPush) {
  const socket = new WebSocket(`ws+unix:${socketPath}:/`, { perMessageDeflate: false });
  const [nonce, client] = [randomBytes(32).toString('hex'), { name: 'example', version: '1' }];
  const offer = {
    protocol: { min: 2, max: 2 },
    capabilities: ['event-journal-v1', 'pipe-output-v1', 'provider-id.open-v1'],
  };
  const hello = Buffer.from(JSON.stringify({ kind: 'hello', role: 'operator', nonce, ...offer, client }));
  const open = new Map();
  let nextId = 1;
  /** Without a lease of one's own, 'brief' takes it for this request alone. */
  const request = (operation, params, lease) => {
    const id = nextId++;
    socket.send(JSON.stringify({ kind: 'request', id, operation, params, lease }));
    return new Promise((resolve, reject) => open.set(id, { resolve, reject }));
  };
  return new Promise((resolve, reject) => {
    socket.on('open', () => socket.send(hello, { binary: false }));
    socket.on('error', reject);
    socket.on('close', () => {
      for (const one of [{ reject }, ...open.values()]) one.reject(new Error('connection-lost'));
    });
    socket.on('message', (data) => {
      const frame = JSON.parse(data.toString());
      if (frame.kind === 'challenge') {
        const [selection, given] = [Buffer.from(frame.selection), Buffer.from(frame.proof, 'hex')];
        // Whoever cannot prove the token is not our node: it learns nothing more.
        const isNode = given.length === 32 && timingSafeEqual(given, proof(1, hello, selection));
        if (!isNode) return reject(new Error('not our node')) ?? socket.terminate();
        const answer = proof(2, hello, selection).toString('hex');
        socket.send(JSON.stringify({ kind: 'authenticate', proof: answer }));
      } else if (frame.kind === 'ready') {
        resolve({ sequence: frame.sequence, request, cut: () => socket.terminate() });
      } else if (frame.kind === 'refused') {
        reject(new Error(frame.failure.code));
      } else if (frame.kind === 'response' || frame.kind === 'failure') {
        const { resolve, reject } = open.get(frame.id) ?? {};
        open.delete(frame.id);
        if (frame.kind === 'response') resolve?.(frame.result);
        else reject?.(new Error(frame.failure.code));
      } else onPush(frame);
    });
  });
}

let cursor;
let onExit;
const exited = new Promise((resolve) => (onExit = resolve));
function follow(frame) {
  if (frame.kind === 'resync-required') cursor = { after: frame.last, incarnation: frame.incarnation };
  if (frame.kind !== 'event') return; // A kind that is not known here is none of our business.
  const { sequence, incarnation, body } = frame.event;
  cursor = { after: sequence, incarnation };
  console.log(`event ${sequence} ${body.kind} ${body.session?.status ?? ''}`.trimEnd());
  if (body.session?.status === 'exited') onExit();
}

const first = await connect(follow);
cursor = { after: first.sequence };
await first.request('events.subscribe', cursor);
const launch = { kind: 'command', command: ['sh', '-c', 'echo hi'] };
const spawn = { directory: process.cwd(), launch, transport: 'pipe' };
const { id: sessionId, workspaceId, generation } = await first.request('session.spawn', spawn, 'brief');
first.cut(); // The link breaks; the session and the journal do not care.

const second = await connect(follow);
await second.request('events.subscribe', cursor);
await exited;
const output = await second.request('session.readOutput', { sessionId, stream: 'stdout', offset: 0 });
console.log(`output ${Buffer.from(output.base64, 'base64').toString().trim()}`);
await second.request('controller.acquire', { leaseMs: 15_000 });
await second.request('session.remove', { workspaceId, sessionId, generation });
await second.request('controller.release', {});
second.cut();

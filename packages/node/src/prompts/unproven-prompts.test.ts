/** Where nobody knows that a prompt arrives as a prompt, none is given: not a byte of it reaches the program. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { addressOf } from '@roost/protocol';
import type { Daemon } from '../daemon.ts';
import { failureOf, startTestNode, TestClient, TestHome, waitFor } from '../node-for-test.ts';

let home: TestHome;
let daemon: Daemon;
let client: TestClient;

beforeEach(async () => {
  home = new TestHome();
  daemon = await startTestNode(home);
  client = await TestClient.connect(daemon.socket);
});
afterEach(async () => {
  client.close();
  await daemon.stop();
  await home.remove();
});

it('prompt, paste, and a resume with a prompt are refused, and neither screen nor journal moves', async () => {
  const session = await client.call('session.spawn', {
    directory: home.path,
    launch: { kind: 'command', command: ['sh', '-c', 'echo ready; exec cat'] },
  });
  const { id: sessionId } = session;
  const address = addressOf(session);
  const lines = async () => (await client.call('session.readScreen', { sessionId })).lines.join('\n');
  await waitFor(async () => (await lines()).includes('ready'), 'the program');
  const before = await client.call('node.snapshot', {});
  const text = 'never-to-arrive';
  expect(await failureOf(client.call('session.prompt', { ...address, text }))).toBe('prompt-unsupported');
  expect(await failureOf(client.call('session.paste', { ...address, text }))).toBe('prompt-unsupported');
  const resuming = client.call('session.resume', { ...address, prompt: text });
  expect(await failureOf(resuming)).toBe('session-running');
  // The terminal echoes: what comes last shows that nothing came before it.
  await client.call('session.input', { ...address, text: 'typed\r', framing: 'raw' });
  await waitFor(async () => (await lines()).includes('typed'), 'what was typed');
  expect(await lines()).not.toContain(text);
  expect((await client.call('node.snapshot', {})).sequence).toBe(before.sequence);

  await client.call('session.stop', { ...address, force: true });
  const ended = await client.call('node.snapshot', {});
  const again = client.call('session.resume', { ...address, prompt: text });
  expect(await failureOf(again)).toBe('session-record-not-resumable');
  expect(await client.call('node.snapshot', {})).toEqual(ended);
});

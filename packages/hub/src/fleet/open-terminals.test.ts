import type { SessionId } from '@roost/protocol';
import { encodeFrame, encodeJsonFrame, TerminalFrameKind } from '@roost/protocol/terminal-frames';
import { expect, test } from 'vitest';
import { OpenTerminals } from './open-terminals.ts';

const ONE = '1'.repeat(16) as SessionId;
const TWO = '2'.repeat(16) as SessionId;

function message(channel: number, ...frames: Uint8Array[]): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt32BE(channel);
  return Buffer.concat([header, ...frames]);
}
const role = (name: 'driver' | 'watcher') =>
  encodeJsonFrame(TerminalFrameKind.role, { role: name, columns: 80, rows: 24 });

function begin() {
  const changed: SessionId[] = [];
  const terminals = new OpenTerminals(
    () => 7,
    (id) => changed.push(id),
  );
  terminals.opened(1, { sessionId: ONE, mode: 'drive' });
  terminals.opened(2, { sessionId: TWO, mode: 'watch' });
  return { terminals, changed };
}

test('who drives is what the node tells on each channel, and a change is told once', () => {
  const { terminals, changed } = begin();
  terminals.sawFromNode(message(1, role('driver'), encodeFrame(TerminalFrameKind.output)));
  terminals.sawFromNode(message(1, role('driver')));
  terminals.sawFromNode(message(2, role('watcher')));
  terminals.sawFromNode(message(9, role('driver')));
  expect(terminals.all).toEqual([
    { sessionId: ONE, mode: 'drive', drives: true, since: 7 },
    { sessionId: TWO, mode: 'watch', drives: false, since: 7 },
  ]);
  expect(changed).toEqual([ONE, TWO, ONE]);
  terminals.sawFromNode(message(1, role('watcher')));
  expect(terminals.all[0]?.drives).toBe(false);
});

test('what a client sends says nothing of who drives, but ends its channel', () => {
  const { terminals, changed } = begin();
  terminals.sawFromClient(message(1, role('driver')));
  expect(terminals.all[0]?.drives).toBe(false);
  terminals.sawFromClient(message(1));
  terminals.sawFromNode(message(2));
  expect(terminals.all).toEqual([]);
  expect(changed).toEqual([ONE, TWO, ONE, TWO]);
});

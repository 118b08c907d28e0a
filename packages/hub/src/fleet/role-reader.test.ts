import { encodeFrame, encodeJsonFrame, TerminalFrameKind } from '@roost/protocol/terminal-frames';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RoleReader } from './role-reader.ts';

const attached = (role: string) =>
  encodeJsonFrame(TerminalFrameKind.attached, {
    version: 1,
    sessionId: '1'.repeat(16),
    columns: 80,
    rows: 24,
    role,
  });
const changed = (role: string) => encodeJsonFrame(TerminalFrameKind.role, { role, columns: 80, rows: 24 });
const output = (text: string) => encodeFrame(TerminalFrameKind.output, Buffer.from(text));

const read = (...frames: Uint8Array[]) => new RoleReader().read(Buffer.concat(frames));

test('the newest role is told, whatever comes before and after it', () => {
  expect(read(attached('driver'))).toBe('driver');
  expect(read(attached('driver'), output('x'), changed('watcher'), output('y'))).toBe('watcher');
  expect(read(output('{"role":"driver"}'), encodeFrame(TerminalFrameKind.screen))).toBeNull();
});

test('frames may be cut anywhere', () => {
  const whole = Buffer.concat([attached('watcher'), output('long text'), changed('driver'), output('more')]);
  fc.assert(
    fc.property(fc.array(fc.nat(whole.length), { maxLength: 12 }), (cuts) => {
      const reader = new RoleReader();
      const places = [0, ...cuts.toSorted((a, b) => a - b), whole.length];
      const told = places.slice(1).map((end, index) => reader.read(whole.subarray(places[index], end)));
      expect(told.filter((role) => role !== null).at(-1)).toBe('driver');
    }),
  );
});

test('what is no role, too long to be one, or no frame tells nothing, and stays so', () => {
  expect(read(changed('captain'))).toBeNull();
  expect(read(encodeFrame(TerminalFrameKind.role, Buffer.from('not json')))).toBeNull();
  expect(
    read(
      encodeJsonFrame(TerminalFrameKind.role, { role: 'driver', more: 'x'.repeat(2_000) }),
      changed('watcher'),
    ),
  ).toBe('watcher');
  const reader = new RoleReader();
  expect(reader.read(Buffer.from([0, 0, 0, 0, 20]))).toBeNull();
  expect(reader.read(Buffer.from(changed('driver')))).toBeNull();
});

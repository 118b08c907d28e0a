import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SegmentLog } from './segment-log.ts';

describe('the segment log', () => {
  let directory: string;
  const open = (segmentBytes = 10, segmentsKept = 3) =>
    new SegmentLog(directory, 'stdout', { segmentBytes, segmentsKept });
  const bytes = (text: string) => Buffer.from(text);

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'roost-segments-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('reads back what was appended, over segment borders, also after it was opened again', () => {
    const log = open();
    log.append(0, bytes('0123456789abcdefghij'));
    log.append(20, bytes('klmno'));
    for (const one of [log, open()]) {
      expect([one.floor, one.end]).toEqual([0, 25]);
      expect(one.read(5, 12).toString()).toBe('56789abcdefg');
      expect(one.read(24, 100).toString()).toBe('o');
      expect(one.read(25, 100).toString()).toBe('');
    }
    log.close();
  });

  it('skips what it has already', () => {
    const log = open();
    log.append(0, bytes('hello'));
    log.append(2, bytes('llo world'));
    log.append(0, bytes('hel'));
    expect(log.read(0, 100).toString()).toBe('hello world');
    log.close();
  });

  it('keeps the newest segments and says where they begin', () => {
    const log = open();
    log.append(0, bytes('x'.repeat(95)));
    expect([log.floor, log.end]).toEqual([70, 95]);
    expect(readdirSync(directory)).toHaveLength(3);
    log.close();
    expect(open().floor).toBe(70);
  });

  it('refuses bytes that do not follow, and keeps what it has; begins anew only when told to', () => {
    const log = open();
    log.append(0, bytes('lost'));
    expect(() => log.append(100, bytes('found'))).toThrow(RangeError);
    expect(log.read(0, 10).toString()).toBe('lost');
    log.restartAt(100);
    log.append(100, bytes('found'));
    expect([log.floor, log.end]).toEqual([100, 105]);
    log.close();
    expect(open().read(100, 10).toString()).toBe('found');
  });

  it('keeps the streams of one session apart', () => {
    const out = open();
    const err = new SegmentLog(directory, 'stderr');
    out.append(0, bytes('out'));
    err.append(0, bytes('error'));
    expect(open().end).toBe(3);
    out.close();
    err.close();
  });

  it('wakes who waits for more', async () => {
    const log = open();
    const waited = log.waitForMore(60_000, new AbortController().signal);
    log.append(0, bytes('x'));
    await waited;
    const abort = new AbortController();
    const aborted = log.waitForMore(60_000, abort.signal);
    abort.abort();
    await aborted;
    log.close();
  });

  it('holds exactly the end of the stream, however it was cut, repeated and reopened', () => {
    const step = fc.record({
      length: fc.nat({ max: 25 }),
      repeat: fc.nat({ max: 15 }),
      reopen: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        rmSync(directory, { recursive: true, force: true });
        let log = open();
        const source = Buffer.from(Array.from({ length: 1_000 }, (_, index) => index % 251));
        for (const { length, repeat, reopen } of steps) {
          const from = Math.max(0, log.end - repeat);
          log.append(from, source.subarray(from, log.end + length));
          if (reopen) {
            log.close();
            log = open();
          }
          expect(log.read(log.floor, 1_000)).toEqual(source.subarray(log.floor, log.end));
        }
        log.close();
      }),
      { numRuns: 100 },
    );
  });
});

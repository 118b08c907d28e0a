import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findProvider, type HistoryFiles } from '@roost/providers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claudeLines, uuid, writeClaude } from './history-for-test.ts';
import { NONE_SKIPPED } from './found-session.ts';
import { FileScanner } from './scan-files.ts';
import { SESSION_FILE_BYTES_MAX } from './session-head.ts';

const history = findProvider('claude')?.history as HistoryFiles;
const goOn = () => false;

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'roost-history-'));
});
afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

const scannerFor = (environment: Record<string, string> = {}, at = home) =>
  new FileScanner('claude', history, { root: history.root({ home: at, environment }), companion: null });

const idsOf = (found: { sessions: readonly { summary: { sessionId: string } }[] }) =>
  found.sessions.map(({ summary }) => summary.sessionId);

describe('a scan', () => {
  it('finds nothing, and no fault, where the provider never ran', async () => {
    expect(await scannerFor().scan(goOn)).toEqual({ sessions: [], skipped: NONE_SKIPPED, incomplete: false });
  });

  it('finds sessions newest first, and passes over what other things lie there', async () => {
    writeClaude(home, { number: 1, directory: '/a', modifiedAt: 1_000 });
    const file = writeClaude(home, { number: 2, directory: '/b', modifiedAt: 3_000 });
    writeClaude(home, { number: 3, directory: '/a', modifiedAt: 2_000 });
    writeFileSync(join(dirname(file), 'notes.txt'), 'x');
    mkdirSync(join(dirname(file), uuid(2), 'subagents'), { recursive: true });
    writeFileSync(
      join(dirname(file), uuid(2), 'subagents', `${uuid(9)}.jsonl`),
      claudeLines({ number: 9, directory: '/b' }),
    );
    const found = await scannerFor().scan(goOn);
    expect(idsOf(found)).toEqual([uuid(2), uuid(3), uuid(1)]);
    expect(found.sessions[0]).toMatchObject({
      modifiedAt: 3_000_000,
      summary: { directory: '/b', title: 'hello', model: 'claude-test' },
    });
    expect(found.skipped).toEqual(NONE_SKIPPED);
  });

  it('of two files with one session tells the newer', async () => {
    writeClaude(home, { number: 1, directory: '/a', modifiedAt: 1_000 });
    writeClaude(home, { number: 1, directory: '/b', modifiedAt: 2_000 });
    const { sessions } = await scannerFor().scan(goOn);
    expect(sessions.map(({ summary }) => summary.directory)).toEqual(['/b']);
  });

  it('looks again only at what changed', async () => {
    const changed = writeClaude(home, { number: 1, directory: '/a', modifiedAt: 1_000 });
    writeClaude(home, { number: 2, directory: '/a', modifiedAt: 1_000 });
    const gone = writeClaude(home, { number: 3, directory: '/a', modifiedAt: 1_000 });
    const scanner = scannerFor();
    const before = await scanner.scan(goOn);
    appendFileSync(changed, `${JSON.stringify({ type: 'ai-title', aiTitle: 'New', sessionId: uuid(1) })}\n`);
    rmSync(gone);
    const after = await scanner.scan(goOn);
    expect(idsOf(after)).toEqual([uuid(1), uuid(2)]);
    expect(after.sessions[0]?.summary.title).toBe('New');
    // The very object: it was not read again.
    expect(after.sessions[1]).toBe(before.sessions.find(({ summary }) => summary.sessionId === uuid(2)));
  });

  it('ends when its time is over, says so, and does not forget what it knew', async () => {
    for (let number = 1; number <= 40; number += 1) writeClaude(home, { number, directory: '/a' });
    const scanner = scannerFor();
    let looks = 0;
    const cut = await scanner.scan(() => (looks += 1) > 60);
    expect(cut.incomplete).toBe(true);
    expect(cut.sessions.length).toBeLessThan(40);
    expect((await scanner.scan(goOn)).sessions).toHaveLength(40);
  });
});

describe('what stands where sessions should be', () => {
  it('is counted and never followed or opened: links and pipes', async () => {
    const file = writeClaude(home, { number: 1, directory: '/a' });
    const folder = dirname(file);
    const outside = join(home, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, `${uuid(5)}.jsonl`), claudeLines({ number: 5, directory: '/secret' }));
    symlinkSync(join(outside, `${uuid(5)}.jsonl`), join(folder, `${uuid(5)}.jsonl`));
    symlinkSync(outside, join(dirname(folder), 'linked'));
    execFileSync('mkfifo', [join(folder, `${uuid(6)}.jsonl`)]);
    mkdirSync(join(folder, `${uuid(7)}.jsonl`));
    const found = await scannerFor().scan(goOn);
    expect(idsOf(found)).toEqual([uuid(1)]);
    expect(found.skipped).toEqual({ ...NONE_SKIPPED, links: 3 });
  });

  it('is not reached when a directory above it is a link, unless the person named it', async () => {
    writeClaude(join(home, 'real'), { number: 1, directory: '/a' });
    symlinkSync(join(home, 'real', '.claude'), join(home, '.claude'));
    const found = await scannerFor().scan(goOn);
    expect(found).toMatchObject({ sessions: [], skipped: { ...NONE_SKIPPED, links: 1 } });
    const named = await scannerFor({ CLAUDE_CONFIG_DIR: join(home, '.claude') }).scan(goOn);
    expect(idsOf(named)).toEqual([uuid(1)]);
    // The home directory itself may be one.
    symlinkSync(join(home, 'real'), join(home, 'link'));
    expect(idsOf(await scannerFor({}, join(home, 'link')).scan(goOn))).toEqual([uuid(1)]);
  });

  it('is counted when it is too large, no text, or nothing that is understood', async () => {
    const folder = dirname(writeClaude(home, { number: 1, directory: '/a' }));
    const put = (number: number, content: string | Buffer) => {
      writeFileSync(join(folder, `${uuid(number)}.jsonl`), content);
    };
    put(2, Buffer.from(claudeLines({ number: 2, directory: '/a' }), 'utf16le'));
    put(
      3,
      Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(claudeLines({ number: 3, directory: '/a' }))]),
    );
    put(4, 'not JSON at all\n');
    put(5, '');
    put(6, claudeLines({ number: 6, directory: '/a' }));
    truncateSync(join(folder, `${uuid(6)}.jsonl`), SESSION_FILE_BYTES_MAX + 1);
    const found = await scannerFor().scan(goOn);
    expect(idsOf(found)).toEqual([uuid(1)]);
    expect(found.skipped).toEqual({ ...NONE_SKIPPED, tooLarge: 1, unknownFormat: 4 });
  });

  it('is read as far as it goes: half a last line, and half a character', async () => {
    const file = writeClaude(home, { number: 1, directory: '/a' });
    appendFileSync(file, Buffer.from('{"type":"user","message":{"content":"ü').subarray(0, -1));
    expect(idsOf(await scannerFor().scan(goOn))).toEqual([uuid(1)]);
  });
});

describe('a scan of 10,000 sessions', () => {
  it('finds them all, leaves the event loop free, and reads nothing again when nothing changed', async () => {
    const folder = join(home, '.claude', 'projects');
    const text = claudeLines({ number: 0, directory: '/a' });
    for (let number = 0; number < 10_000; number += 1) {
      const place = join(folder, `-project-${number % 50}`);
      if (number < 50) mkdirSync(place, { recursive: true });
      const file = join(place, `${uuid(number)}.jsonl`);
      writeFileSync(file, text.replaceAll(uuid(0), uuid(number)));
      utimesSync(file, number, number);
    }
    const scanner = scannerFor();
    let turns = 0;
    let isScanning = true;
    const count = () => {
      turns += 1;
      if (isScanning) setImmediate(count);
    };
    setImmediate(count);
    const cold = await scanner.scan(goOn);
    isScanning = false;
    expect(cold.sessions).toHaveLength(10_000);
    expect(cold.sessions[0]?.summary.sessionId).toBe(uuid(9_999));
    // How long each of them takes is the benchmark's to say.
    expect(turns).toBeGreaterThan(500);
    const warm = await scanner.scan(goOn);
    expect(warm.sessions.every((one, index) => one === cold.sessions[index])).toBe(true);
  });
});

describe('a file that changes while it is read', () => {
  it('is one or the other session, or none, and never a fault', async () => {
    const file = writeClaude(home, { number: 1, directory: '/a' });
    const scanner = scannerFor();
    const other = join(home, 'other');
    const work = { isDone: false };
    const swapping = (async () => {
      for (let round = 0; !work.isDone; round += 1) {
        writeFileSync(other, claudeLines({ number: 1, directory: `/${'x'.repeat(round % 50)}` }));
        renameSync(other, file);
        await new Promise(setImmediate);
      }
    })();
    for (let round = 0; round < 100; round += 1) {
      const found = await scanner.scan(goOn);
      expect(idsOf(found).every((id) => id === uuid(1))).toBe(true);
    }
    work.isDone = true;
    await swapping;
  });
});

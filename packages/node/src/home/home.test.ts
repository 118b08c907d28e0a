import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FailureError } from '@roost/protocol';
import { prepareHome } from './home.ts';
import { acquireHomeLock } from './lock.ts';

const refusal = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    if (error instanceof FailureError) return error.failure.code;
    throw error;
  }
  return null;
};

describe('the home', () => {
  let base: string;
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'roost-home-'));
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));

  it('is made for its owner only, and tightened when it was open', () => {
    const open = join(base, 'open');
    mkdirSync(open);
    chmodSync(open, 0o755);
    for (const home of [join(base, 'deep', 'new'), open]) {
      const paths = prepareHome(home);
      for (const path of [paths.home, paths.keepers, paths.sessions, paths.logs]) {
        expect(statSync(path).mode & 0o777).toBe(0o700);
      }
    }
  });

  it('may be reached by a link', () => {
    mkdirSync(join(base, 'real'));
    symlinkSync(join(base, 'real'), join(base, 'link'));
    expect(prepareHome(join(base, 'link')).home).toBe(prepareHome(join(base, 'real')).home);
  });

  it('is refused when it is a file', () => {
    writeFileSync(join(base, 'file'), 'mine');
    expect(refusal(() => prepareHome(join(base, 'file')))).toBe('home-unusable');
  });

  it.runIf(process.getuid?.() === 0)('is refused when it belongs to somebody else', async () => {
    const { chownSync } = await import('node:fs');
    mkdirSync(join(base, 'theirs'));
    chownSync(join(base, 'theirs'), 12_345, 12_345);
    expect(refusal(() => prepareHome(join(base, 'theirs')))).toBe('home-unusable');
  });

  it('is refused before anything is made when a socket path would be too long', () => {
    const long = join(base, 'y'.repeat(90));
    expect(refusal(() => prepareHome(long))).toBe('home-path-too-long');
    expect(() => statSync(long)).toThrow();
  });
});

describe('the lock of a home', () => {
  let base: string;
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'roost-lock-'));
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));

  it('is held once, and free after its release', () => {
    const path = join(base, 'node.lock');
    const first = acquireHomeLock(path);
    expect(refusal(() => acquireHomeLock(path))).toBe('node-already-running');
    first.release();
    acquireHomeLock(path).release();
  });

  it('is not blocked by junk in its file', () => {
    const path = join(base, 'node.lock');
    writeFileSync(path, 'junk'.repeat(2_000));
    const lock = acquireHomeLock(path);
    expect(refusal(() => acquireHomeLock(path))).toBe('node-already-running');
    lock.release();
  });
});

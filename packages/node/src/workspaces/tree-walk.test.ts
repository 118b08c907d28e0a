import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WorkspaceTree } from '@roost/protocol';
import { TreeWalk, type WalkBudget } from './tree-walk.ts';

let base: string;
let root: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'roost-walk-')));
  root = join(base, 'root');
  mkdirSync(root);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function put(...paths: string[]): void {
  for (const path of paths) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), '');
  }
}

const never = { hasPassed: () => false };

async function walk(budget: Partial<WalkBudget> = {}): Promise<WorkspaceTree> {
  const walking = new TreeWalk(root, { deadline: never, visitsMax: 50_000, ...budget });
  await walking.run();
  return walking.tree;
}

const paths = ({ entries }: WorkspaceTree) => entries.map(({ path }) => path);
const skipped = ({ entries }: WorkspaceTree) => entries.filter((one) => one.skipped).map(({ path }) => path);
/** Paths of what this process has open below the base. */
const openBelow = (): string[] =>
  readdirSync('/proc/self/fd')
    .flatMap((descriptor) => {
      try {
        return [readlinkSync(`/proc/self/fd/${descriptor}`)];
      } catch {
        return [];
      }
    })
    .filter((path) => path.startsWith(base));

describe('a walk', () => {
  it('shows what is there and does not go into what tools make', async () => {
    put('src/lib.rs', 'README.md', '.git/objects/x', 'Target/debug/x', 'node_modules/package/x');
    put('target-a2/CACHEDIR.TAG', 'target-a2/debug/x', 'target-notes/plan.md', 'sub/.git');
    mkdirSync(join(root, 'tagged-by-a-directory/CACHEDIR.TAG'), { recursive: true });
    const tree = await walk();
    expect(tree.cuts).toEqual([]);
    expect(paths(tree)).toEqual([
      '.git',
      'README.md',
      'Target',
      'node_modules',
      'src',
      'src/lib.rs',
      'sub',
      'sub/.git',
      'tagged-by-a-directory',
      'tagged-by-a-directory/CACHEDIR.TAG',
      'target-a2',
      'target-notes',
      'target-notes/plan.md',
    ]);
    expect(skipped(tree)).toEqual(['.git', 'Target', 'node_modules', 'target-a2']);
  });

  it('orders whole paths as bytes, not directory by directory and not as UTF-16', async () => {
    put('roost/src/lib.rs', 'roost-client/lib.rs', '\uffee', '\u{1f600}');
    expect(paths(await walk())).toEqual([
      'roost',
      'roost-client',
      'roost-client/lib.rs',
      'roost/src',
      'roost/src/lib.rs',
      '\uffee',
      '\u{1f600}',
    ]);
  });

  it('stops at the visits it may make, and says so; as many as it may make are no cut', async () => {
    for (let number = 0; number < 20; number += 1) put(`file-${number}`);
    const cut = await walk({ visitsMax: 5 });
    expect(cut.cuts).toEqual(['visits']);
    expect(cut.visited).toBe(5);
    expect(cut.entries).toHaveLength(5);
    expect(await walk({ visitsMax: 20 })).toMatchObject({ cuts: [], visited: 20 });
  });

  it('stops when the time is over, with what it has', async () => {
    put('a/b/c', 'd');
    let looks = 0;
    const tree = await walk({ deadline: { hasPassed: () => ++looks > 3 } });
    expect(tree.cuts).toEqual(['time']);
    expect(paths(tree)).toEqual(['a', 'd']);
  });

  it('can be asked before it is over, and tells then that the time is', async () => {
    put('a/b');
    const walking = new TreeWalk(root, { deadline: never, visitsMax: 9 });
    const running = walking.run();
    expect(walking.tree).toEqual({ entries: [], cuts: ['time'], visited: 0 });
    await running;
    expect(walking.tree.cuts).toEqual([]);
  });

  it('goes six levels deep, and says when there are more', async () => {
    put('a/b/c/d/e/file');
    expect(await walk()).toMatchObject({ cuts: [] });
    mkdirSync(join(root, 'a/b/c/d/e/f'));
    const tree = await walk();
    expect(tree.cuts).toEqual(['depth']);
    expect(paths(tree).at(-2)).toBe('a/b/c/d/e/f');
  });

  it('keeps the entries nearest to the root when there are too many, and of one directory the first by bytes', async () => {
    for (let number = 0; number < 600; number += 1) put(`many/${String(number).padStart(4, '0')}`);
    put('z/inner');
    const tree = await walk();
    expect(tree.cuts).toEqual(['entries']);
    expect(tree.entries).toHaveLength(512);
    expect(paths(tree)).toEqual(expect.arrayContaining(['many', 'many/0000', 'many/0509', 'z']) as string[]);
    expect(paths(tree)).not.toContain('many/0510');
  });

  it('says nothing of a cut when exactly as many entries are there as it keeps', async () => {
    for (let number = 0; number < 511; number += 1) put(`file-${number}`);
    mkdirSync(join(root, 'empty'));
    expect(await walk()).toMatchObject({ cuts: [], visited: 512 });
  });

  it('shows links and special files without following or opening them', async () => {
    put('file');
    mkdirSync(join(base, 'outside'));
    writeFileSync(join(base, 'outside/secret'), '');
    symlinkSync(join(base, 'outside'), join(root, 'link'));
    symlinkSync('.', join(root, 'loop'));
    symlinkSync('nowhere', join(root, 'dangling'));
    execFileSync('mkfifo', [join(root, 'pipe')]);
    const server = createServer().listen(join(root, 'socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    const tree = await walk();
    server.close();
    expect(tree.cuts).toEqual([]);
    expect(tree.entries.map(({ path, kind }) => [path, kind])).toEqual([
      ['dangling', 'link'],
      ['file', 'file'],
      ['link', 'link'],
      ['loop', 'link'],
      ['pipe', 'other'],
      ['socket', 'other'],
    ]);
  });

  it('leaves out names that are no text, and says so', async () => {
    put('good');
    writeFileSync(Buffer.concat([Buffer.from(`${root}/bad-`), Buffer.from([0xff])]), '');
    const tree = await walk();
    expect(paths(tree)).toEqual(['good']);
    expect(tree.cuts).toEqual(['names']);
  });

  it.skipIf(process.getuid?.() === 0)('says when it may not look into a directory', async () => {
    put('closed/file', 'open');
    chmodSync(join(root, 'closed'), 0);
    const tree = await walk();
    chmodSync(join(root, 'closed'), 0o700);
    expect(paths(tree)).toEqual(['closed', 'open']);
    expect(tree.cuts).toEqual(['unreadable']);
  });

  it('tells that it could not look when the root is gone or is a link by now', async () => {
    symlinkSync(base, join(base, 'link'));
    for (const place of ['gone', 'link']) {
      const walking = new TreeWalk(join(base, place), { deadline: never, visitsMax: 9 });
      await walking.run();
      expect(walking.tree).toEqual({ entries: [], cuts: ['unreadable'], visited: 0 });
    }
  });

  it('never goes through a link that takes the place of a directory meanwhile, and leaves nothing open', async () => {
    mkdirSync(join(base, 'outside/inner'), { recursive: true });
    writeFileSync(join(base, 'outside/secret'), '');
    writeFileSync(join(base, 'outside/inner/secret'), '');
    put('a/inner/x', 'a/y');
    let isSwapped = false;
    let calls = 0;
    const swapping = {
      hasPassed: () => {
        calls += 1;
        // Out of step with the walk's own steps, so that it happens between any two of them.
        if (calls % 3 === 0) return false;
        if (isSwapped) {
          rmSync(join(root, 'a'));
          renameSync(join(base, 'aside'), join(root, 'a'));
        } else {
          renameSync(join(root, 'a'), join(base, 'aside'));
          symlinkSync(join(base, 'outside'), join(root, 'a'));
        }
        isSwapped = !isSwapped;
        return false;
      },
    };
    const kinds = new Set<string>();
    for (let round = 0; round < 300; round += 1) {
      const tree = await walk({ deadline: swapping });
      expect(paths(tree).filter((path) => path.includes('secret'))).toEqual([]);
      for (const { path, kind } of tree.entries) kinds.add(`${path} ${kind}`);
    }
    expect([...kinds].sort()).toEqual([
      'a directory',
      'a link',
      'a/inner directory',
      'a/inner/x file',
      'a/y file',
    ]);
    expect(openBelow()).toEqual([]);
  });

  it('lets the event loop turn while it goes through a large directory', async () => {
    mkdirSync(join(root, 'large'));
    for (let number = 0; number < 20_000; number += 1) writeFileSync(join(root, 'large', `f${number}`), '');
    let turns = 0;
    let isWalking = true;
    const turn = () => {
      turns += 1;
      if (isWalking) setImmediate(turn);
    };
    setImmediate(turn);
    const tree = await walk({ visitsMax: 1_000_000 });
    isWalking = false;
    expect(tree).toMatchObject({ visited: 20_001, cuts: ['entries'] });
    expect(turns).toBeGreaterThan(20_000 / 256);
  }, 60_000);
});

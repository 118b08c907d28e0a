/**
 * Ways out of a workspace: every one is tried with every operation on files, against a real node, while another process swaps
 * names under it. Whatever lies outside stays byte for byte what it was, nothing of it is told, and nothing new is there.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { NodeConnection } from '@roost/client';
import { FailureError, type FileRevision } from '@roost/protocol';
import { attackCount } from '../support/counts.ts';
import { connectTo } from '../support/node-client.ts';
import { RoostHome } from '../support/roost-home.ts';

/** Calls of each operation under each kind of swapping. */
const RACES = attackCount(10_000, 100);
const SWAPPER = new URL('../support/path-swapper.mjs', import.meta.url).pathname;
const CANARY = 'canary: nobody may read or change this\n';
const INSIDE = 'inside\n';

type Verb = 'readFile' | 'writeFile' | 'createFile' | 'createDirectory';
const VERBS: readonly Verb[] = ['readFile', 'writeFile', 'createFile', 'createDirectory'];
const revisionOf = (text: string) => createHash('sha256').update(text).digest('hex') as FileRevision;

class Scene implements AsyncDisposable {
  readonly roost = new RoostHome();
  readonly root = join(this.roost.work, 'root');
  readonly outside = join(this.roost.root, 'outside');
  connection!: NodeConnection;
  #before = '';

  static async make(): Promise<Scene> {
    const scene = new Scene();
    const { root, outside, roost } = scene;
    for (const place of [join(root, 'a/b'), join(outside, 'b')]) {
      mkdirSync(place, { recursive: true });
    }
    for (const name of ['file', 'same', 'a/file', 'a/same', 'a/b/file', 'a/b/same']) {
      writeFileSync(join(root, name), INSIDE);
    }
    // With the revision that a writer expects: only the place can be the reason for a refusal.
    for (const place of [outside, join(outside, 'b')]) {
      writeFileSync(join(place, 'file'), CANARY);
      writeFileSync(join(place, 'same'), INSIDE);
    }
    await roost.ok(['up', '--no-hub']);
    scene.connection = await connectTo(roost);
    await scene.register('w', root);
    scene.#before = digestOf(outside);
    return scene;
  }

  async register(workspaceId: string, root: string): Promise<void> {
    await this.connection.request('workspace.register', { workspaceId, root });
  }

  /** `done`, or the code of the refusal. What is read is never the canary. */
  async ask(verb: Verb, path: string, workspaceId = 'w', expected = revisionOf(INSIDE)): Promise<string> {
    try {
      const { connection } = this;
      const place = { workspaceId, path };
      switch (verb) {
        case 'readFile': {
          const { content } = await connection.request('workspace.readFile', place);
          if (content.kind === 'text') expect(content.text).not.toContain('canary');
          break;
        }
        case 'writeFile': {
          const change = {
            ...place,
            expectedRevision: expected,
            text: expected === revisionOf(INSIDE) ? 'x\n' : INSIDE,
          };
          await connection.request('workspace.writeFile', change);
          break;
        }
        case 'createFile':
          await connection.request('workspace.createFile', place);
          break;
        case 'createDirectory':
          await connection.request('workspace.createDirectory', place);
          break;
      }
      return 'done';
    } catch (error) {
      if (error instanceof FailureError) return error.failure.code;
      throw error;
    }
  }

  askAll(path: string, workspaceId = 'w'): Promise<string[]> {
    return Promise.all(VERBS.map((verb) => this.ask(verb, path, workspaceId)));
  }

  /** Every operation at once, so many times, while the plan is carried out. How each operation ended, and how often. */
  async race(
    plan: readonly object[],
    directory: string,
    workspaceId = 'w',
  ): Promise<Map<string, Map<string, number>>> {
    await using swapper = await startSwapper(plan);
    const ends = new Map(VERBS.map((verb) => [verb, new Map<string, number>()]));
    let expected = revisionOf(INSIDE);
    for (let round = 0; round < RACES; round += 1) {
      const paths: Record<Verb, string> = {
        readFile: `${directory}file`,
        writeFile: `${directory}same`,
        createFile: `${directory}new-${round}`,
        createDirectory: `${directory}dir-${round}`,
      };
      const answers = VERBS.map(async (verb) => {
        const end = await this.ask(verb, paths[verb], workspaceId, expected);
        const counts = ends.get(verb)!;
        counts.set(end, (counts.get(end) ?? 0) + 1);
        return end;
      });
      const [, written] = await Promise.all(answers);
      if (written === 'done') expected = revisionOf(expected === revisionOf(INSIDE) ? 'x\n' : INSIDE);
    }
    expect(swapper.isAlive()).toBe(true);
    return ends;
  }

  expectNothingHappened(): void {
    expect(digestOf(this.outside)).toBe(this.#before);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.connection.close();
    await this.roost[Symbol.asyncDispose]();
  }
}

async function startSwapper(plan: readonly object[]) {
  const child = spawn(process.execPath, [SWAPPER, JSON.stringify(plan)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  return {
    isAlive: () => child.exitCode === null,
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await ended;
    },
  };
}

/** Names, kinds, modes, owners, times of change, contents. */
function digestOf(directory: string): string {
  const hash = createHash('sha256');
  const add = (path: string): void => {
    const stats = lstatSync(path, { bigint: true });
    hash.update(`${path} ${stats.mode} ${stats.uid} ${stats.gid} ${stats.ino} ${stats.mtimeNs}\n`);
    if (stats.isDirectory()) for (const name of readdirSync(path).sort()) add(join(path, name));
    else if (stats.isSymbolicLink()) hash.update(readlinkSync(path));
    else if (stats.isFile()) hash.update(readFileSync(path));
  };
  add(directory);
  return hash.digest('hex');
}

const total = (ends: Map<string, Map<string, number>>, code: string) =>
  [...ends.values()].reduce((sum, counts) => sum + (counts.get(code) ?? 0), 0);

describe('no path leads out of a workspace', () => {
  it('that is absolute, climbs, is empty, holds NUL, ends in a slash or is too long', async () => {
    await using scene = await Scene.make();
    const { outside } = scene;
    const climbing = [
      '../outside/file',
      'a/../../../outside/file',
      '..',
      'a/..',
      './a',
      '.',
      'a//file',
      'a/',
      '',
      '/',
    ];
    const others = [
      join(outside, 'file'),
      `//${outside}/file`,
      'a\0/file',
      '\0',
      'x'.repeat(1025),
      'a/'.repeat(600),
      '\udc00',
    ];
    for (const path of [...climbing, ...others])
      expect(await scene.askAll(path), path).toEqual(Array(4).fill('invalid-request'));
    for (const path of ['x'.repeat(256), `${'x'.repeat(256)}/file`])
      expect(await scene.askAll(path)).toEqual(Array(4).fill('invalid-request'));
    scene.expectNothingHappened();
  });

  it('through a link at any depth, wherever it leads', async () => {
    await using scene = await Scene.make();
    const { root, outside } = scene;
    const links = [
      '/',
      '..',
      '../..',
      '../../outside',
      '../../../outside',
      outside,
      '/proc/self/root',
      '/proc/self/cwd',
      '/proc/1/root',
      '/dev/fd',
      'a',
      '.',
    ];
    for (const [index, to] of links.entries()) {
      for (const at of ['', 'a/', 'a/b/']) symlinkSync(to, join(root, `${at}link${index}`));
    }
    for (const index of links.keys()) {
      for (const at of ['', 'a/', 'a/b/']) {
        const link = `${at}link${index}`;
        for (const behind of ['file', 'b/file', 'new'])
          expect(await scene.askAll(`${link}/${behind}`), link).toEqual(
            Array(4).fill('repository-path-unsafe'),
          );
        expect((await scene.askAll(link)).slice(0, 2)).toEqual(Array(2).fill('repository-path-unsafe'));
      }
    }
    scene.expectNothingHappened();
  });

  it('to a file that has other names, to pipes, sockets and devices, or around the case of a name', async () => {
    await using scene = await Scene.make();
    const { root, outside } = scene;
    linkSync(join(outside, 'same'), join(root, 'shared'));
    spawnSync('mkfifo', [join(root, 'pipe')]);
    const server = createServer().listen(join(root, 'socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    const taken = Array(2).fill('repository-entry-already-exists') as string[];
    for (const [name, code] of [
      ['/dev/null', 'repository-path-unsafe'],
      ['/dev/zero', 'repository-path-unsafe'],
      ['/dev/tty', 'repository-path-unsafe'],
    ] as const) {
      const link = `link${name.replaceAll('/', '-')}`;
      symlinkSync(name, join(root, link));
      expect(await scene.askAll(link)).toEqual([code, code, ...taken]);
    }
    const device = spawnSync('mknod', [join(root, 'device'), 'c', '1', '5']);
    const strange = ['pipe', 'socket', ...(device.status === 0 ? ['device'] : [])];
    for (const name of strange) {
      const code = 'repository-file-not-regular';
      expect(await scene.askAll(name), name).toEqual([code, code, ...taken]);
      expect((await scene.askAll(`${name}/x`)).slice(2)).toEqual(
        Array(2).fill('repository-parent-not-directory'),
      );
    }
    server.close();
    symlinkSync(outside, join(root, 'Link'));
    expect(await scene.ask('readFile', 'LINK/file')).toMatch(/^repository-(path-unsafe|file-not-found)$/);
    // Last: its inode loses a name, which is all that changes outside.
    const before = readFileSync(join(outside, 'same'));
    expect(await scene.ask('writeFile', 'shared')).toBe('done');
    expect(readFileSync(join(root, 'shared'), 'utf8')).toBe('x\n');
    expect(readFileSync(join(outside, 'same'))).toEqual(before);
    scene.expectNothingHappened();
  });

  it('beside names that are not UTF-8', async () => {
    await using scene = await Scene.make();
    const { root, outside } = scene;
    const raw = Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0x66, 0xff])]);
    symlinkSync(outside, raw);
    for (const path of ['f\ufffd', 'fÿ', 'f\udcff'])
      for (const code of await scene.askAll(`${path}/file`))
        expect(code).toMatch(/^(invalid-request|repository-file-not-found|repository-parent-not-found)$/);
    expect(await scene.ask('createFile', 'f\ufffd')).toBe('done');
    expect(
      readdirSync(root, { encoding: 'buffer' }).some((name) => name.equals(Buffer.from([0x66, 0xff]))),
    ).toBe(true);
    scene.expectNothingHappened();
  });

  it('in the process file system, where links are magic', async () => {
    await using scene = await Scene.make();
    const pid = await scene.roost.nodePid();
    await scene.register('proc', '/proc');
    for (const path of [
      'self/root/etc/passwd',
      `${pid}/root/etc/passwd`,
      `${pid}/cwd/etc/passwd`,
      `${pid}/fd/0/x`,
      'self/environ',
    ])
      expect(await scene.ask('readFile', path, 'proc'), path).toBe('repository-path-unsafe');
    expect(await scene.ask('readFile', `${pid}/exe`, 'proc')).toBe('repository-path-unsafe');
    expect(await scene.ask('createFile', `${pid}/new`, 'proc')).toMatch(
      /^repository-(entry-create-failed|parent-not-found)$/,
    );
    // A workspace may be anything that is registered; what is in it is read without waiting.
    expect(await scene.ask('readFile', 'kmsg', 'proc')).toMatch(
      /^repository-file-(read-failed|not-regular|not-found)$|^done$/,
    );
    scene.expectNothingHappened();
  });

  it('while a directory on the way is swapped for a link', async () => {
    await using scene = await Scene.make();
    const { root, outside } = scene;
    const ends = await scene.race(
      [
        { kind: 'link', path: join(root, 'a/b'), to: join(outside, 'b'), aside: join(root, 'aside-b') },
        { kind: 'link', path: join(root, 'a'), to: outside, aside: join(root, 'aside-a') },
      ],
      'a/b/',
    );
    scene.expectNothingHappened();
    // It was no race unless both sides won often.
    for (const verb of VERBS) expect(ends.get(verb)?.get('done') ?? 0, verb).toBeGreaterThan(0);
    expect(total(ends, 'repository-path-unsafe')).toBeGreaterThan(0);
  });

  it('while the file itself is swapped for a link or another name of a file outside', async () => {
    await using scene = await Scene.make();
    const { root, outside } = scene;
    // Reading another name of a file is reading a file of the workspace: only links are swapped there.
    const ends = await scene.race(
      [
        {
          kind: 'link',
          path: join(root, 'a/file'),
          to: join(outside, 'file'),
          aside: join(root, 'aside-file'),
        },
        {
          kind: 'name',
          path: join(root, 'a/same'),
          to: join(outside, 'same'),
          aside: join(root, 'aside-same'),
        },
      ],
      'a/',
    );
    scene.expectNothingHappened();
    expect(total(ends, 'repository-path-unsafe')).toBeGreaterThan(0);
  });

  it('while the text that is being prepared is swapped for a link', async () => {
    await using scene = await Scene.make();
    const { root, outside } = scene;
    await scene.race([{ kind: 'prepared', path: join(root, 'a'), to: join(outside, 'same') }], 'a/');
    scene.expectNothingHappened();
    // What is left under such a name is the swapper's.
    const left = readdirSync(join(root, 'a')).filter((name) => name.startsWith('.roost-save-'));
    expect(left.filter((name) => !lstatSync(join(root, 'a', name)).isSymbolicLink())).toEqual([]);
  });

  it('while a directory is moved out and back', async () => {
    await using scene = await Scene.make();
    const { root, roost } = scene;
    const ends = await scene.race(
      [{ kind: 'move', path: join(root, 'a'), to: join(roost.root, 'moved') }],
      'a/b/',
    );
    scene.expectNothingHappened();
    // What was made is in the directory that it was made in, wherever that was moved.
    const made = readdirSync(join(root, 'a/b')).filter((name) => /^(new|dir)-/.test(name));
    expect(made).toHaveLength(
      (ends.get('createFile')?.get('done') ?? 0) + (ends.get('createDirectory')?.get('done') ?? 0),
    );
    expect(existsSync(join(roost.root, 'moved'))).toBe(false);
  });

  it('while the root, or a directory above it, is swapped for a link', async () => {
    await using scene = await Scene.make();
    const { root, outside, roost } = scene;
    mkdirSync(join(outside, 'root'), { recursive: true });
    writeFileSync(join(outside, 'root/file'), CANARY);
    writeFileSync(join(outside, 'root/same'), INSIDE);
    const before = digestOf(outside);
    const ends = await scene.race(
      [
        { kind: 'link', path: root, to: join(outside, 'root'), aside: join(roost.work, 'aside') },
        { kind: 'link', path: roost.work, to: outside, aside: join(roost.root, 'aside') },
      ],
      '',
    );
    expect(digestOf(outside)).toBe(before);
    expect(total(ends, 'done')).toBeGreaterThan(0);
    expect(total(ends, 'repository-path-unsafe')).toBeGreaterThan(0);
  });
});

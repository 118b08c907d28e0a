import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { failureOf } from '../node-for-test.ts';
import { makeStandalone, placeFor, type StandaloneStep } from './standalone.ts';

let base: string;
let root: string;
let environment: Record<string, string | undefined>;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'roost-standalone-')));
  root = join(base, 'repo');
  mkdirSync(join(base, 'home'));
  environment = { PATH: process.env.PATH, HOME: join(base, 'home') };
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

interface Options {
  readonly branch?: string;
  readonly onStep?: (step: StandaloneStep) => void;
  readonly register?: () => string;
}

async function make({ branch, onStep, register = () => 'registered' }: Options = {}): Promise<string> {
  const scene = { git: { environment }, onStep };
  return makeStandalone(scene, await placeFor(root), branch, register);
}

/** Does it once, at that step. */
const at = (step: StandaloneStep, act: () => void) => (now: StandaloneStep) => {
  if (now === step) act();
};

const git = (...args: string[]) => {
  const env = { ...environment, GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', ['-C', root, ...args], { env, encoding: 'utf8' }).trim();
};

describe('a repository from nothing', () => {
  it('is made where nothing is, on the branch that was asked for, without hooks of any template', async () => {
    const template = join(base, 'template');
    mkdirSync(join(template, 'hooks'), { recursive: true });
    writeFileSync(join(template, 'hooks/post-checkout'), '#!/bin/sh\n', { mode: 0o755 });
    writeFileSync(join(base, 'home/.gitconfig'), `[init]\n templateDir = ${template}\n`);
    expect(await make({ branch: 'trunk' })).toBe('registered');
    expect(git('branch', '--show-current')).toBe('trunk');
    expect(git('worktree', 'list', '--porcelain')).toContain(`worktree ${root}\n`);
    expect(readdirSync(root)).toEqual(['.git']);
    expect(existsSync(join(root, '.git/hooks'))).toBe(false);
  });

  it('is made in an empty directory, also one that a link leads to', async () => {
    mkdirSync(join(base, 'real'));
    symlinkSync('real', root);
    await make();
    expect(readdirSync(join(base, 'real'))).toEqual(['.git']);
    expect(await placeFor(root)).toEqual({ root: join(base, 'real'), isThere: true });
  });

  it.each([
    ['a directory with something in it', () => mkdirSync(join(root, 'something'), { recursive: true })],
    ['a file', () => writeFileSync(root, '')],
    ['a link to nothing', () => symlinkSync('nowhere', root)],
    ['a place whose parent is not there', () => void (root = join(base, 'no/repo'))],
    ['a pipe', () => execFileSync('mkfifo', [root])],
  ])('is refused in %s', async (_, prepare) => {
    prepare();
    expect(await failureOf(make())).toBe('invalid-workspace-root');
    expect(existsSync(join(root, '.git'))).toBe(false);
    expect(existsSync(join(base, 'no'))).toBe(false);
  });

  it.each(['a..b', 'x.lock', 'with space', '@{-1}', 'HEAD'])(
    'is refused before anything is made when its branch is to be %s',
    async (branch) => {
      expect(await failureOf(make({ branch }))).toBe('invalid-request');
      expect(existsSync(root)).toBe(false);
    },
  );

  it('is refused before anything is made when there is no git', async () => {
    environment = { PATH: join(base, 'home') };
    expect(await failureOf(make())).toBe('git-not-installed');
    expect(existsSync(root)).toBe(false);
  });

  it('leaves an empty directory as it was when git cannot, and tells that more is left otherwise', async () => {
    const programs = join(base, 'programs');
    mkdirSync(programs);
    const fakeGit = (init: string) => {
      const script = `#!/bin/sh\nfor one in "$@"; do [ "$one" = init ] && { ${init}; exit 1; }; done\nexit 0\n`;
      writeFileSync(join(programs, 'git'), script, { mode: 0o755 });
    };
    environment = { PATH: `${programs}:/usr/bin:/bin`, HOME: join(base, 'home') };
    fakeGit(':');
    mkdirSync(root);
    expect(await failureOf(make())).toBe('git-failed');
    expect(readdirSync(root)).toEqual([]);
    fakeGit(`mkdir ${root}/.git`);
    expect(await failureOf(make())).toBe('standalone-workspace-recovery-required');
    expect(readdirSync(root)).toEqual(['.git']);
    root = join(base, 'fresh');
    fakeGit(':');
    expect(await failureOf(make())).toBe('standalone-workspace-recovery-required');
    expect(readdirSync(root)).toEqual([]);
  });

  it('is kept for a person when it cannot be registered', async () => {
    const refuse = () => {
      throw new Error('the disk is full');
    };
    expect(await failureOf(make({ register: refuse }))).toBe('standalone-workspace-recovery-required');
    expect(readdirSync(root)).toEqual(['.git']);
    expect(git('status', '--porcelain')).toBe('');
  });
});

describe('somebody who swaps the directory', () => {
  const swapRoot = () => {
    renameSync(root, join(base, 'aside'));
    mkdirSync(root);
    writeFileSync(join(root, 'precious'), 'as it was');
  };
  const linkRoot = () => {
    renameSync(root, join(base, 'aside'));
    mkdirSync(join(base, 'victim'));
    symlinkSync('victim', root);
  };
  const swapGit = () => {
    renameSync(join(root, '.git'), join(base, 'git-aside'));
    mkdirSync(join(root, '.git'));
  };
  const linkGit = () => {
    renameSync(join(root, '.git'), join(base, 'git-aside'));
    symlinkSync(join(base, 'git-aside'), join(root, '.git'));
  };
  const addFile = () => writeFileSync(join(root, 'precious'), 'as it was');

  it.each<[string, StandaloneStep, () => void]>([
    ['for another before git runs', 'made', swapRoot],
    ['for a link before git runs', 'made', linkRoot],
    ['for another after git ran', 'initialised', swapRoot],
    ['for a link after git ran', 'initialised', linkRoot],
    ['for another after it was looked at', 'verified', swapRoot],
    ['for a link after it was looked at', 'verified', linkRoot],
    ['of the repository for another', 'verified', swapGit],
    ['of the repository for a link', 'initialised', linkGit],
    ['of the repository for a link at the end', 'verified', linkGit],
    ['or adds a file', 'initialised', addFile],
  ])(
    '%s (at the step %s) gets nothing registered, and nothing is deleted or written elsewhere',
    async (_, step, act) => {
      let registered = false;
      const making = make({ onStep: at(step, act), register: () => String((registered = true)) });
      expect(await failureOf(making)).toBe('standalone-workspace-recovery-required');
      expect(registered).toBe(false);
      if (act === swapRoot) {
        expect(readdirSync(root)).toEqual(['precious']);
        // Git worked in the directory that was made, wherever it is now.
        expect(readdirSync(join(base, 'aside'))).toEqual(['.git']);
      }
      if (act === linkRoot) expect(readdirSync(join(base, 'victim'))).toEqual([]);
      if (act === swapGit || act === linkGit) expect(existsSync(join(base, 'git-aside/HEAD'))).toBe(true);
      if (act === addFile) expect(readdirSync(root).sort()).toEqual(['.git', 'precious']);
    },
  );
});

// For tests only: real repositories in a temporary directory, with a home of their own, and hashes of everything in them.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Nothing in the background: git looks after a commit whether there is something to pack, with a process of its own. */
const CONFIG =
  '[user]\n\tname = Test\n\temail = test@localhost\n[commit]\n\tgpgsign = false\n[maintenance]\n\tauto = false\n';

export class TestRepository {
  /** Canonical; holds everything else. */
  readonly base: string;
  readonly home: string;
  readonly root: string;

  constructor() {
    this.base = realpathSync(mkdtempSync(join(tmpdir(), 'roost-worktrees-')));
    this.home = join(this.base, 'home');
    this.root = join(this.base, 'repo');
    mkdirSync(this.home);
    mkdirSync(this.root);
    this.git(['init', '--quiet', '--initial-branch=main']);
    appendFileSync(join(this.root, '.git', 'config'), CONFIG);
    this.write('file.txt', 'one\n');
    this.write('.gitignore', 'ignored/\n*.secret\n');
    this.git(['add', '--all']);
    this.git(['commit', '--quiet', '-m', 'first']);
  }

  get environment(): Record<string, string | undefined> {
    return { PATH: process.env.PATH, HOME: this.home };
  }

  /** What a command writes, without its last line break. */
  git(args: readonly string[], directory = this.root): string {
    const text = execFileSync('git', ['-C', directory, ...args], {
      encoding: 'utf8',
      env: { ...this.environment, GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return text.replace(/\n$/, '');
  }

  /** The exit code of a command that may fail. */
  try(args: readonly string[], directory = this.root): number | null {
    const options = { env: { ...this.environment, GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' } };
    return spawnSync('git', ['-C', directory, ...args], options).status;
  }

  write(name: string, text: string, directory = this.root): void {
    mkdirSync(join(directory, name, '..'), { recursive: true });
    writeFileSync(join(directory, name), text);
  }

  /** Commits everything there; answers the commit. */
  commit(message: string, directory = this.root): string {
    this.git(['add', '--all'], directory);
    this.git(['commit', '--quiet', '--allow-empty', '-m', message], directory);
    return this.git(['rev-parse', 'HEAD'], directory);
  }

  place(name: string): string {
    return join(this.base, name);
  }

  /** Paths of the listed worktrees, the main one first. */
  worktrees(): string[] {
    const lines = this.git(['worktree', 'list', '--porcelain']).split('\n');
    return lines.filter((line) => line.startsWith('worktree ')).map((line) => line.slice('worktree '.length));
  }

  refs(): string {
    return this.git(['for-each-ref']);
  }

  remove(): void {
    rmSync(this.base, { recursive: true, force: true });
  }
}

/** One hash over names, kinds, modes and contents of everything in a directory; `skip` leaves some names out at its top. */
export function hashTree(directory: string, skip: readonly string[] = []): string {
  const hash = createHash('sha256');
  const visit = (at: string, name: string) => {
    const facts = lstatSync(at);
    hash.update(`${name}\0${facts.mode}\0`);
    if (facts.isSymbolicLink()) hash.update(readlinkSync(at));
    else if (facts.isFile()) hash.update(readFileSync(at));
    else if (facts.isDirectory()) {
      for (const child of readdirSync(at).sort()) {
        if (at !== directory || !skip.includes(child)) visit(join(at, child), `${name}/${child}`);
      }
    }
  };
  visit(directory, '');
  return hash.digest('hex');
}

// For tests only: real repositories in temporary directories, and a git that sees nothing of the person's own settings.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { Deadline } from '../deadline.ts';
import type { GitSource } from './run-git.ts';

export const SOON = () => Deadline.in(60_000);

export class Scratch {
  readonly path: string;
  readonly source: GitSource;
  readonly #environment: Readonly<Record<string, string>>;

  constructor() {
    this.path = realpathSync(mkdtempSync(join(tmpdir(), 'roost-git-')));
    onTestFinished(() => rmSync(this.path, { recursive: true, force: true }));
    mkdirSync(join(this.path, 'home'));
    this.source = { environment: { PATH: process.env.PATH, HOME: join(this.path, 'home') } };
    this.#environment = {
      PATH: process.env.PATH ?? '',
      HOME: join(this.path, 'home'),
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_DATE: '2026-01-02T03:04:05+02:00',
      GIT_COMMITTER_DATE: '2026-01-02T03:04:05+02:00',
    };
  }

  /** A path in it. */
  at(...names: string[]): string {
    return join(this.path, ...names);
  }

  git(directory: string, ...args: string[]): string {
    return this.gitWith({}, directory, ...args);
  }

  gitWith(options: { readonly input?: string | Buffer }, directory: string, ...args: string[]): string {
    const own = ['-c', 'user.name=An Author', '-c', 'user.email=author@example.org'];
    const more = ['-c', 'protocol.file.allow=always', '-c', 'init.defaultBranch=main', '-c', 'gc.auto=0'];
    return execFileSync('git', [...own, ...more, '-C', directory, ...args], {
      encoding: 'utf8',
      env: this.#environment,
      stdio: ['pipe', 'pipe', 'pipe'],
      ...options,
    });
  }

  /** A repository with what is given committed; nothing given, no commit. */
  repository(name: string, files: Readonly<Record<string, string>> = {}): string {
    const root = this.at(name);
    mkdirSync(root, { recursive: true });
    this.git(root, 'init', '-q');
    if (Object.keys(files).length > 0) this.commit(root, files);
    return root;
  }

  write(root: string, files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
  }

  /** Everything that is there; its id. */
  commit(root: string, files: Readonly<Record<string, string>>, message = 'a commit'): string {
    this.write(root, files);
    this.git(root, 'add', '-A');
    this.git(root, 'commit', '-q', '--allow-empty', '-m', message);
    return this.git(root, 'rev-parse', 'HEAD').trim();
  }

  /** A program in a directory of its own, before the others in the PATH. */
  withProgram(name: string, script: string): GitSource {
    const directory = this.at('bin');
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(directory, name), 0o755);
    const { environment } = this.source;
    return { environment: { ...environment, PATH: `${directory}:${environment.PATH}` } };
  }
}

/** A program of an example, in a process of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from './wait-for.ts';

const CLIENT = new URL('../../packages/client', import.meta.url).pathname;

/** A directory in which programs find `@roost/client`, as one in which it is installed. */
export function programDirectory(parent: string): string {
  const directory = join(parent, 'programs');
  mkdirSync(join(directory, 'node_modules', '@roost'), { recursive: true });
  symlinkSync(CLIENT, join(directory, 'node_modules', '@roost', 'client'));
  return directory;
}

export class ExampleProgram implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  stdout = '';
  stderr = '';

  constructor(
    file: string,
    { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
  ) {
    const child = spawn(process.execPath, [file], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.#child = child;
    this.#ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
  }

  /** Writes the program into its directory first. */
  static of(
    code: string,
    options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
  ): ExampleProgram {
    const file = join(options.cwd, 'program.mjs');
    writeFileSync(file, code);
    return new ExampleProgram(file, options);
  }

  /** Its exit code. */
  ended(): Promise<number | null> {
    return this.#ended;
  }

  says(pattern: RegExp): Promise<unknown> {
    return waitFor(`the program to say ${String(pattern)}`, () => pattern.test(this.stdout), {
      timeoutMs: 30_000,
      state: () => ({ stdout: this.stdout, stderr: this.stderr }),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}

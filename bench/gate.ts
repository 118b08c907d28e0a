/**
 * A named pipe between the measuring side and a child, beside the terminal: starts a child's work and hears from a child
 * without a byte passing the subject under test. Held open for reading and writing, so neither side ever blocks on open.
 */
import { execFileSync } from 'node:child_process';
import { open, rm, type FileHandle } from 'node:fs/promises';

export class Gate {
  readonly path: string;
  readonly #file: FileHandle;

  private constructor(path: string, file: FileHandle) {
    this.path = path;
    this.#file = file;
  }

  static async make(path: string): Promise<Gate> {
    execFileSync('mkfifo', ['-m', '600', path]);
    return new Gate(path, await open(path, 'r+'));
  }

  /** Lets one child go that reads a line from the pipe. Answers the time. */
  async go(): Promise<number> {
    const at = performance.now();
    await this.#file.write('\n');
    return at;
  }

  /** Waits until a child wrote to the pipe. Answers the time. */
  async heard(): Promise<number> {
    await this.#file.read(Buffer.alloc(64));
    return performance.now();
  }

  async remove(): Promise<void> {
    await this.#file.close();
    await rm(this.path, { force: true });
  }
}

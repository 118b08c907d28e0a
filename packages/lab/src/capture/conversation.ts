// A CLI in one of its structured modes: lines of JSON out, lines in where it listens, everything kept in order.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { isRecord } from '../mock-server/replies.ts';

export type Message = Record<string, unknown>;

interface ConversationOptions {
  file: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Asked for each message; what it gives is sent back at once. */
  answer?: (message: Message) => Message | undefined;
}

export interface Said {
  from: 'client' | 'agent';
  message: Message;
}

export interface Ended {
  exitCode: number | null;
  signal: string | null;
  stderr: string;
}

export class Conversation {
  readonly said: Said[] = [];
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #closed: Promise<unknown[]>;
  readonly #watchers = new Set<() => void>();
  #cursor = 0;
  #stderr = '';
  #isClosed = false;

  constructor({ file, args, cwd, env, answer }: ConversationOptions) {
    // A group of its own, to end launchers together with what they started.
    this.#child = spawn(file, [...args], { cwd, env: { ...env }, stdio: 'pipe', detached: true });
    this.#child.stdin.on('error', () => undefined);
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      const message = parseMessage(line);
      if (message === undefined) return;
      this.said.push({ from: 'agent', message });
      const reply = answer?.(message);
      if (reply !== undefined) this.send(reply);
      for (const watch of this.#watchers) watch();
    });
    this.#closed = once(this.#child, 'close').then((how: unknown[]) => {
      this.#isClosed = true;
      for (const watch of this.#watchers) watch();
      return how;
    });
  }

  send(message: Message): void {
    this.said.push({ from: 'client', message });
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  endInput(): void {
    this.#child.stdin.end();
  }

  /** The next message of the agent that fits, behind the last one that was awaited. */
  next(what: string, fits: (message: Message) => boolean, deadlineMs = 60_000): Promise<Message> {
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(timer);
        this.#watchers.delete(check);
      };
      const fail = (how: string): void => {
        stop();
        const heard = this.said
          .slice(-8)
          .map(({ from, message }) => `${from}: ${JSON.stringify(message).slice(0, 300)}`);
        reject(new Error(`no ${what}: ${how}\n${heard.join('\n')}\n${this.#stderr.slice(-1000)}`));
      };
      const check = (): void => {
        for (; this.#cursor < this.said.length; this.#cursor++) {
          const one = this.said[this.#cursor];
          if (one?.from !== 'agent' || !fits(one.message)) continue;
          this.#cursor++;
          stop();
          resolve(one.message);
          return;
        }
        if (this.#isClosed) fail('it has ended');
      };
      const timer = setTimeout(() => fail(`not within ${deadlineMs} ms`), deadlineMs);
      this.#watchers.add(check);
      check();
    });
  }

  /** Ends its input and waits; whoever stays is killed, with all it started. */
  async end(graceMs = 15_000): Promise<Ended> {
    this.endInput();
    const timer = setTimeout(() => this.kill(), graceMs);
    const [exitCode, signal] = await this.#closed;
    clearTimeout(timer);
    this.kill();
    return { exitCode: exitCode as number | null, signal: signal as string | null, stderr: this.#stderr };
  }

  kill(): void {
    try {
      process.kill(-(this.#child.pid ?? 0), 'SIGKILL');
    } catch {
      // Gone already.
    }
  }
}

function parseMessage(line: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * tmux as people run it, on a server of its own: private socket, private configuration file, nothing of the user's.
 * Same history as a Roost session keeps, no status line (it would be drawn by nobody else), true colour passed on.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, run, waitUntil } from '../processes.ts';
import { COLUMNS, ROWS, type Launch } from '../terminal.ts';
import { plainEnvironment, type DurableSubject } from './subject.ts';

const CONFIGURATION = [
  'set -g status off',
  'set -g history-limit 5000',
  'set -g exit-empty off',
  'set -as terminal-features ",*:RGB"',
];

export class TmuxSubject implements DurableSubject {
  readonly name = 'tmux';
  readonly durable = true;
  readonly #home: string;
  readonly #socket: string;
  readonly #configuration: string;
  #server: number | undefined;

  constructor(home: string) {
    this.#home = home;
    this.#socket = join(home, 'tmux.sock');
    this.#configuration = join(home, 'tmux.conf');
  }

  async prepare(): Promise<void> {
    writeFileSync(this.#configuration, `${CONFIGURATION.join('\n')}\n`);
    await run(this.#launch('start-server'));
    this.#server = Number(await run(this.#launch('display-message', '-p', '#{pid}')));
  }

  async openSession(name: string, command: readonly string[]): Promise<Launch> {
    await run(this.detachedLaunch(name, command));
    return this.#launch('attach-session', '-t', `=${name}`);
  }

  runLaunch(name: string, command: readonly string[]): Launch {
    return this.#launch('new-session', '-s', name, '--', ...command);
  }

  detachedLaunch(name: string, command: readonly string[]): Launch {
    return this.#launch(
      ...['new-session', '-d', '-s', name, '-x', String(COLUMNS), '-y', String(ROWS), '--', ...command],
    );
  }

  listLaunch(): Launch {
    return this.#launch('list-sessions');
  }

  async closeSession(name: string): Promise<void> {
    await run(this.#launch('kill-session', '-t', `=${name}`));
  }

  serverProcesses(): Promise<readonly number[]> {
    return Promise.resolve(this.#server === undefined ? [] : [this.#server]);
  }

  async teardown(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined || !isAlive(server)) return;
    await run(this.#launch('kill-server')).catch(() => undefined);
    await waitUntil('the tmux server is gone', () => !isAlive(server)).catch(() =>
      process.kill(server, 'SIGKILL'),
    );
  }

  #launch(...rest: string[]): Launch {
    return {
      file: 'tmux',
      arguments: ['-u', '-S', this.#socket, '-f', this.#configuration, ...rest],
      directory: this.#home,
      environment: plainEnvironment(this.#home),
    };
  }
}

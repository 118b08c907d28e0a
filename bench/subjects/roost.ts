/**
 * Roost from its own bundle, with a state directory of its own. Clients that are measured are the command itself; sessions
 * are prepared and cleared away over one connection, which is quicker.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectNode, nodeSocketPath, nodeTokenPath, type NodeConnection } from '@roost/client';
import { addressOf, SessionName, type Session } from '@roost/protocol';
import { isAlive, run, waitUntil } from '../processes.ts';
import { COLUMNS, ROWS, type Launch } from '../terminal.ts';
import { plainEnvironment, type DurableSubject } from './subject.ts';

/** As seen from the bundled program, `bench/dist/run.js`. */
const COMMAND = fileURLToPath(new URL('../../packages/cli/dist/roost.js', import.meta.url));

export class RoostSubject implements DurableSubject {
  readonly name = 'roost';
  readonly durable = true;
  readonly #directory: string;
  readonly #state: string;
  #connection: NodeConnection | undefined;
  #started = false;
  /** Every server process seen, for an end by force. */
  #processes: readonly number[] = [];

  constructor(directory: string) {
    this.#directory = directory;
    this.#state = join(directory, 'state');
  }

  static isBuilt(): boolean {
    return existsSync(COMMAND);
  }

  async prepare(): Promise<void> {
    this.#started = true;
    await run(this.#launch('up', '--no-hub'));
    await this.serverProcesses();
  }

  async openSession(name: string, command: readonly string[]): Promise<Launch> {
    const connection = await this.#node();
    await connection.request('session.spawn', {
      name: SessionName.parse(name),
      directory: this.#directory,
      launch: { kind: 'command', command: [...command] },
      size: { columns: COLUMNS, rows: ROWS },
    });
    return this.#launch('attach', name);
  }

  runLaunch(name: string, command: readonly string[]): Launch {
    return this.#launch('run', '--name', name, '--', ...command);
  }

  detachedLaunch(name: string, command: readonly string[]): Launch {
    const size = `${COLUMNS}x${ROWS}`;
    return this.#launch('run', '--detach', '--size', size, '--name', name, '--', ...command);
  }

  listLaunch(): Launch {
    return this.#launch('ls');
  }

  async closeSession(name: string): Promise<void> {
    const connection = await this.#node();
    const session = await connection.request('session.resolve', { selector: name });
    await connection.request('session.stop', { ...addressOf(session), force: true });
    await connection.request('session.remove', addressOf(session));
  }

  async serverProcesses(): Promise<readonly number[]> {
    const { pid, keepers } = await (await this.#node()).request('node.status', {});
    this.#processes = [pid, ...keepers.map((keeper) => keeper.pid)];
    return this.#processes;
  }

  /** What a client of one's own needs. */
  get target() {
    return {
      home: this.#state,
      socketPath: nodeSocketPath(this.#state),
      tokenPath: nodeTokenPath(this.#state),
      directory: this.#directory,
    };
  }

  /** The connection over which sessions are prepared. */
  connection(): Promise<NodeConnection> {
    return this.#node();
  }

  /** Kills the node, not the keepers, and waits until the process is gone. */
  async killNode(): Promise<void> {
    const { pid } = await (await this.#node()).request('node.status', {});
    process.kill(pid, 'SIGKILL');
    this.#connection?.close();
    await waitUntil('the killed node is gone', () => !isAlive(pid));
  }

  /** Live sessions as the node lists them. */
  async sessions(): Promise<readonly Session[]> {
    return (await (await this.#node()).request('session.list', {})).sessions;
  }

  /** Succeeds when a client could attach to the session now. */
  async grantAttach({ id }: Session): Promise<void> {
    await (await this.#node()).request('session.attach', { sessionId: id, mode: 'watch' });
  }

  /** The session's screen with everything above it that is kept. */
  async history({ id }: Session, lines: number): Promise<readonly string[]> {
    const screen = await (
      await this.#node()
    ).request('session.readScreen', { sessionId: id, scrollback: lines });
    return screen.lines;
  }

  async teardown(): Promise<void> {
    if (!this.#started) return;
    this.#started = false;
    await this.serverProcesses().catch(() => undefined);
    this.#connection?.close();
    // Starts a node when there is none: only a node ends sessions.
    await run(this.#launch('down', '--sessions')).catch(() => undefined);
    // Keepers without sessions wait a while for another node: not for us.
    const left = () => this.#processes.filter(isAlive);
    for (const pid of left()) process.kill(pid, 'SIGTERM');
    await waitUntil('node and keepers are gone', () => left().length === 0).catch(() =>
      left().forEach((pid) => process.kill(pid, 'SIGKILL')),
    );
    this.#processes = [];
  }

  async #node(): Promise<NodeConnection> {
    if (this.#connection !== undefined) return this.#connection;
    const connection = await connectNode({
      socketPath: nodeSocketPath(this.#state),
      client: { name: 'roost-bench', version: '0' },
    });
    this.#connection = connection;
    connection.onClose(() => {
      if (this.#connection === connection) this.#connection = undefined;
    });
    return connection;
  }

  #launch(...rest: string[]): Launch {
    return {
      file: process.execPath,
      arguments: [COMMAND, ...rest],
      directory: this.#directory,
      environment: { ...plainEnvironment(this.#directory), ROOST_HOME: this.#state },
    };
  }
}

/**
 * What a command may use of the world: its streams, its environment, and one connection to the node, opened on first use
 * and closed by the program. Commands know no other way to the outside.
 */
import type { NodeConnection, OpenedNode } from '@roost/client';
import type { Session, SessionRecord } from '@roost/protocol';
import type { GlobalOptions } from './global-options.ts';
import { VERSION } from './version.ts';

export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  /** The node's program, for starting one. */
  readonly nodeScript: string;
}

export class CommandContext {
  readonly terminal: Terminal;
  /** Operands behind the first `--`; undefined when there is none. */
  readonly passedThrough: readonly string[] | undefined;
  /** Set by a command that was done but did not succeed. */
  exitCode = 0;
  #global: GlobalOptions = {};
  #opened: OpenedNode | undefined;

  constructor(terminal: Terminal, passedThrough: readonly string[] | undefined) {
    this.terminal = terminal;
    this.passedThrough = passedThrough;
  }

  applyGlobal(options: GlobalOptions): void {
    this.#global = options;
  }

  get mayStart(): boolean {
    return this.#global.start !== false;
  }

  async home(): Promise<string> {
    const { resolveHome } = await import('@roost/client');
    const named = this.#global.home;
    return resolveHome(named === undefined ? this.terminal.env : { ...this.terminal.env, ROOST_HOME: named });
  }

  /** A connection of its own, without starting a node. */
  async connectAnew(): Promise<NodeConnection> {
    const { connectNode, nodeSocketPath } = await import('@roost/client');
    return connectNode({ socketPath: nodeSocketPath(await this.home()), client: CLIENT });
  }

  async open(options: { readonly mayStart?: boolean } = {}): Promise<OpenedNode> {
    if (this.#opened !== undefined) return this.#opened;
    const { openNode } = await import('@roost/client');
    const mayStart = this.mayStart && options.mayStart !== false;
    this.#opened = await openNode({
      home: await this.home(),
      client: CLIENT,
      start: mayStart ? { script: this.terminal.nodeScript, env: this.terminal.env } : null,
    });
    return this.#opened;
  }

  async node(): Promise<NodeConnection> {
    return (await this.open()).connection;
  }

  /** A new connection in place of one that was lost. */
  async reconnect(): Promise<NodeConnection> {
    this.close();
    return this.node();
  }

  async resolveSession(selector: string): Promise<Session> {
    return (await this.node()).request('session.resolve', { selector });
  }

  async resolveRecord(selector: string): Promise<SessionRecord> {
    return (await this.node()).request('record.resolve', { selector });
  }

  print(text: string): void {
    this.terminal.stdout.write(`${text}\n`);
  }

  /** Says something about what happened, beside the result. */
  note(text: string): void {
    this.terminal.stderr.write(`[roost] ${text}\n`);
  }

  printJson(value: unknown): void {
    this.print(JSON.stringify(value, null, 2));
  }

  close(): void {
    this.#opened?.connection.close();
    this.#opened = undefined;
  }
}

const CLIENT = { name: 'roost-cli', version: VERSION };

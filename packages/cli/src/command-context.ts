/**
 * What a command may use of the world: its streams, its environment, and one connection to the node, opened on first use
 * and closed by the program. Commands know no other way to the outside.
 */
import type { HubTarget, NodeConnection, OpenedNode } from '@roost/client';
import type { NodeId, Session, SessionRecord } from '@roost/protocol';
import type { GlobalOptions } from './global-options.ts';
import { loginPath } from './hub/login-path.ts';
import { UsageError } from './usage-error.ts';
import { VERSION } from './version.ts';

export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  /** The programs of node and hub, for starting them. */
  readonly nodeScript: string;
  readonly hubScript: string;
}

export class CommandContext {
  readonly terminal: Terminal;
  /** Operands behind the first `--`; undefined when there is none. */
  readonly passedThrough: readonly string[] | undefined;
  /** Set by a command that was done but did not succeed. */
  exitCode = 0;
  #global: GlobalOptions = {};
  #opened: OpenedNode | undefined;
  /** The node at the hub that is worked with; null: the one of this machine. */
  #chosen: NodeId | null = null;
  #isHereOnly = false;

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

  /** The hub that one is logged in at, else the one of this machine; null when there is neither. */
  async hub(): Promise<HubTarget | null> {
    const { existsSync } = await import('node:fs');
    const { hubSocketPath } = await import('@roost/client');
    const home = await this.home();
    if (existsSync(loginPath(home))) {
      const { readLogin } = await import('./hub/login-file.ts');
      const login = readLogin(home);
      if (login !== null) return login;
    }
    const socketPath = hubSocketPath(home);
    return existsSync(socketPath) ? { socketPath } : null;
  }

  /** @throws FailureError: hub-not-running. */
  async requireHub(): Promise<HubTarget> {
    const hub = await this.hub();
    if (hub !== null) return hub;
    const { FailureError } = await import('@roost/protocol');
    throw new FailureError('hub-not-running');
  }

  /** For what is about this machine, whatever `ROOST_NODE` says. @throws UsageError: `--node` names another. */
  stayHere(): void {
    if (this.#global.node !== undefined)
      throw new UsageError('--node is not for this command: it is about this machine');
    this.#isHereOnly = true;
  }

  /** Works with that node of the hub from now on; null: with the one of this machine. */
  choose(nodeId: NodeId | null): void {
    if (nodeId === this.#chosen) return;
    this.close();
    this.#chosen = nodeId;
  }

  /** What `--node` names, or `ROOST_NODE`. */
  get #named(): string | undefined {
    if (this.#isHereOnly) return undefined;
    const named = this.#global.node ?? this.terminal.env.ROOST_NODE;
    return named === '' ? undefined : named;
  }

  /** Whether one node was named for all that is done. */
  get isNodeNamed(): boolean {
    return this.#named !== undefined;
  }

  async #chooseNamed(): Promise<void> {
    if (this.#named !== undefined && this.#chosen === null) await this.#chooseNode(this.#named);
  }

  async #chooseNode(node: string): Promise<void> {
    const { hubRequest } = await import('@roost/client');
    this.choose((await hubRequest(await this.requireHub(), 'nodes.show', { node })).id);
  }

  /** A connection of its own, without starting a node. */
  async connectAnew(): Promise<NodeConnection> {
    const { connectNode, connectThroughHub, nodeSocketPath } = await import('@roost/client');
    await this.#chooseNamed();
    if (this.#chosen !== null) {
      return connectThroughHub(await this.requireHub(), { node: this.#chosen, client: CLIENT });
    }
    return connectNode({ socketPath: nodeSocketPath(await this.home()), client: CLIENT });
  }

  async open(options: { readonly mayStart?: boolean } = {}): Promise<OpenedNode> {
    if (this.#opened !== undefined) return this.#opened;
    await this.#chooseNamed();
    const { openNode } = await import('@roost/client');
    if (this.#chosen !== null) {
      this.#opened = { connection: await this.connectAnew(), started: false };
      return this.#opened;
    }
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

  /** `NAME`, or `NODE/NAME` at the hub; works with its node from now on. */
  async resolveSession(selector: string): Promise<Session> {
    const name = await this.#chooseNodeOf(selector);
    return (await this.node()).request('session.resolve', { selector: name });
  }

  /** Answers the name without its node. What is on this machine is found first. */
  async #chooseNodeOf(selector: string): Promise<string> {
    const { splitAddress } = await import('./hub/find-node.ts');
    const { node, name } = splitAddress(selector);
    if (node !== null) await this.#chooseNode(node);
    else if (this.#named === undefined) {
      const hub = await this.hub();
      if (hub !== null && !(await this.#isHere(name))) this.choose(await this.#elsewhere(hub, name));
    }
    return name;
  }

  /** null: on no other node than this machine's, which is started as ever. */
  async #elsewhere(hub: HubTarget, name: string): Promise<NodeId | null> {
    const [{ hubRequest }, { nodeOfSession }, { FailureError }] = await Promise.all([
      import('@roost/client'),
      import('./hub/find-node.ts'),
      import('@roost/protocol'),
    ]);
    try {
      const node = await nodeOfSession(hub, name);
      if (node === null || !('socketPath' in hub)) return node;
      const { way } = await hubRequest(hub, 'nodes.show', { node });
      return way === 'dialled' ? null : node;
    } catch (error) {
      // A socket that a hub left behind.
      if (error instanceof FailureError && error.failure.code === 'hub-not-running') return null;
      throw error;
    }
  }

  async #isHere(selector: string): Promise<boolean> {
    const { FailureError } = await import('@roost/protocol');
    this.choose(null);
    try {
      const { connection } = await this.open({ mayStart: false });
      await connection.request('session.resolve', { selector });
      return true;
    } catch (error) {
      const code = error instanceof FailureError ? error.failure.code : null;
      if (code === 'unknown-session' || code === 'node-not-running') return false;
      throw error;
    }
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

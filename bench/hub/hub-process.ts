/** A hub from its own bundle, with a directory of its own, ended by handle. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { hubRequest, type HubTarget } from '@roost/client';
import { UserName, type HubRole } from '@roost/protocol';
import { plainEnvironment } from '../subjects/subject.ts';

/** As seen from the bundled program, `bench/dist/run.js`. */
const HUB = fileURLToPath(new URL('../../packages/cli/dist/hub.js', import.meta.url));

export class HubProcess {
  readonly url: string;
  readonly socketPath: string;
  readonly #child: ChildProcess;
  /** Also when the bench is interrupted. */
  readonly #end: () => void;

  private constructor(child: ChildProcess, { url, socket }: Ready) {
    this.#child = child;
    this.#end = () => child.kill('SIGTERM');
    process.once('exit', this.#end);
    this.url = url;
    this.socketPath = socket;
  }

  /** `nodeSocket`: of a node that it dials. */
  static async start(home: string, nodeSocket: string | null): Promise<HubProcess> {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    writeFileSync(join(home, 'config.json'), JSON.stringify({ listen: { port: 0 } }));
    const dialled = nodeSocket === null ? [] : ['--node-socket', nodeSocket];
    const child = spawn(process.execPath, [HUB, '--home', home, ...dialled, '--ready-fd', '3'], {
      cwd: home,
      env: plainEnvironment(home),
      stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    });
    return new HubProcess(child, await readReady(child));
  }

  get pid(): number {
    const { pid } = this.#child;
    if (pid === undefined) throw new Error('the hub did not start');
    return pid;
  }

  get owner(): HubTarget {
    return { socketPath: this.socketPath };
  }

  /** The hub as a new user with a token. */
  async user(role: HubRole): Promise<Extract<HubTarget, { token: string }>> {
    const user = UserName.parse(role);
    await hubRequest(this.owner, 'users.create', { name: user, role, scope: null });
    const { secret } = await hubRequest(this.owner, 'tokens.create', { user, label: 'bench' });
    return { url: this.url, token: secret, fingerprint: null };
  }

  async stop(): Promise<void> {
    process.off('exit', this.#end);
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGTERM');
    await exited;
  }
}

interface Ready {
  readonly url: string;
  readonly socket: string;
}

/** The one line that a hub tells of its start. */
async function readReady(child: ChildProcess): Promise<Ready> {
  const pipe = child.stdio[3] as Readable;
  let text = '';
  for await (const chunk of pipe.setEncoding('utf8') as AsyncIterable<string>) text += chunk;
  const told = JSON.parse(text) as Ready | { readonly failure: unknown };
  if ('failure' in told) throw new Error(`the hub did not start: ${text}`);
  return told;
}

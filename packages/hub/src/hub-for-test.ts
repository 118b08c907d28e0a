// For tests: a real hub that listens, on a fleet made of data, and what asks it over HTTP.
import { mkdtempSync, rmSync } from 'node:fs';
import { request, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import WebSocket from 'ws';
import { type HubScope, NodeId, NodeName, UserName, type HubRole } from '@roost/protocol';
import { LOCAL } from './access/authenticate.ts';
import { MemoryFleet } from './fleet/fleet-for-test.ts';
import { startHub, type Hub, type HubOptions } from './hub.ts';

export const NODE_A = NodeId.parse('a'.repeat(16));
export const NODE_B = NodeId.parse('b'.repeat(16));

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** undefined: it is no JSON. */
  readonly json: unknown;
}

export interface Asking {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object goes as JSON, a text as it is. */
  readonly body?: unknown;
  /** Over the socket of the owner. */
  readonly isLocal?: boolean;
}

export class TestHub {
  readonly home: string;
  readonly hub: Hub;
  readonly fleet: MemoryFleet;
  readonly #opened: WebSocket[] = [];

  private constructor(home: string, hub: Hub, fleet: MemoryFleet) {
    this.home = home;
    this.hub = hub;
    this.fleet = fleet;
  }

  /** With two nodes, `alpha` and `beta`. */
  static async start(options: Partial<HubOptions> = {}, fleet = new MemoryFleet()): Promise<TestHub> {
    const home = mkdtempSync(join(tmpdir(), 'roost-hub-'));
    fleet.put({ id: NODE_A, name: NodeName.parse('alpha') });
    fleet.put({ id: NODE_B, name: NodeName.parse('beta'), way: 'calls-home' });
    const hub = await startHub({
      home,
      version: '0.0.0-test',
      openFleet: () => fleet,
      config: { listen: { host: '127.0.0.1', port: 0 } },
      checkResults: true,
      ...options,
    });
    return new TestHub(home, hub, fleet);
  }

  async stop(): Promise<void> {
    for (const webSocket of this.#opened) webSocket.terminate();
    await this.hub.stop();
    rmSync(this.home, { recursive: true, force: true });
  }

  get port(): number {
    return Number(new URL(this.hub.url).port);
  }

  /** A token of a new user. */
  token(name: string, role: HubRole, scope: HubScope | null = null): string {
    const { accounts, tokens } = this.hub.access;
    const user = UserName.parse(name);
    accounts.create({ name: user, role, scope });
    return tokens.create({ user, label: 'test', scope: null, expiresInDays: 1 }, LOCAL).secret;
  }

  /** The cookie of a browser of that user, as a header. */
  async cookie(name: string): Promise<string> {
    const { code } = this.hub.access.logins.createLink(UserName.parse(name), LOCAL);
    const { headers } = await this.ask('POST', '/api/v1/login', {
      body: { code },
      headers: { origin: this.hub.url, 'x-roost-csrf': '1' },
    });
    return headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  }

  ask(
    method: string,
    path: string,
    { token, headers = {}, body, isLocal = false }: Asking = {},
  ): Promise<Answer> {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const place = isLocal ? { socketPath: this.hub.socket } : { host: '127.0.0.1', port: this.port };
    return new Promise((resolve, reject) => {
      const asking = request({
        ...place,
        method,
        path,
        agent: false,
        headers: {
          host: `127.0.0.1:${this.port}`,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(text === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }),
          ...headers,
        },
      });
      asking.on('error', reject);
      asking.on('response', (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () => {
          const answered = Buffer.concat(parts).toString();
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: answered,
            json: parse(answered),
          });
        });
      });
      asking.end(text);
    });
  }

  /** Closed by `stop`. */
  open(path: string, { token, headers = {} }: Asking = {}): WebSocket {
    const webSocket = new WebSocket(`ws://127.0.0.1:${this.port}${path}`, {
      headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
    });
    this.#opened.push(webSocket);
    return webSocket;
  }
}

/** How the opening of a WebSocket went: 101, or the status of the refusal. */
export function opening(webSocket: WebSocket): Promise<number> {
  return new Promise((resolve, reject) => {
    webSocket.once('open', () => resolve(101));
    webSocket.once('unexpected-response', (_, response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    webSocket.once('error', reject);
  });
}

export async function until<Value>(
  look: () => Value | null | undefined | false,
  what: string,
  timeoutMs = 5_000,
): Promise<Value> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const found = look();
    if (found !== null && found !== undefined && found !== false) return found;
    if (performance.now() > end) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

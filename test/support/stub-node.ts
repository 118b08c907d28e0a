/** A node of a hub without anything behind it: it enrols and calls home as a real one does, and counts what is asked of it. */
import { randomBytes } from 'node:crypto';
import type { WebSocket } from 'ws';
import {
  HUB_OPERATIONS,
  Incarnation,
  NodeId,
  NodeName,
  Request,
  type HubResult,
  type NodeFrame,
  type OperationName,
} from '@roost/protocol';
import { hubAddress } from '@roost/protocol/node';
import { NodeHandshake } from '../../packages/node/src/connection/handshake.ts';
import { CallHome } from '../../packages/node/src/hubs/call-home.ts';
import { enrol } from '../../packages/node/src/hubs/enrol.ts';
import type { Log } from '@roost/storage';

type Server = ConstructorParameters<typeof CallHome>[0]['server'];
type Answer = (params: never) => unknown;

export class StubNode {
  readonly id = NodeId.parse(randomBytes(8).toString('hex'));
  readonly incarnation = Incarnation.parse(randomBytes(8).toString('hex'));
  readonly asked: { readonly operation: OperationName; readonly params: unknown }[] = [];
  readonly #name: NodeName;
  readonly #answers: Partial<Record<OperationName, Answer>>;
  #call: CallHome | null = null;
  #line: WebSocket | null = null;

  constructor(name: string, answers: Partial<Record<OperationName, Answer>> = {}) {
    this.#name = NodeName.parse(name);
    this.#answers = {
      'node.snapshot': () => this.emptySnapshot,
      'interaction.list': () => ({ interactions: [], truncated: false }),
      'events.subscribe': () => ({ last: 1, floor: 0, resyncRequired: false }),
      ...answers,
    };
  }

  get name(): string {
    return this.#name;
  }

  get state(): string {
    return this.#call?.view.state ?? 'none';
  }

  async join(url: string, code: string): Promise<HubResult<'nodes.enrol'>> {
    const enrolled = await this.enrol(url, code);
    this.call();
    return enrolled;
  }

  /** Without calling. */
  async enrol(url: string, code: string): Promise<HubResult<'nodes.enrol'>> {
    const key = randomBytes(32).toString('hex');
    const params = HUB_OPERATIONS['nodes.enrol'].params.parse({
      code,
      nodeId: this.id,
      nodeName: this.#name,
      key,
    });
    const enrolled = await enrol(hubAddress(url), null, params);
    const membership = { ...enrolled, url, key, fingerprint: null, joinedAt: new Date().toISOString() };
    const log = { info: () => undefined, debug: () => undefined } as unknown as Log;
    this.#call = new CallHome({
      membership,
      nodeId: this.id,
      server: { serveCall: (call) => this.#serve(call) },
      log,
      now: Date.now,
      random: Math.random,
    });
    return enrolled;
  }

  call(): void {
    this.#call?.begin();
  }

  /** To the hub, on the line that was proved last. */
  send(frame: NodeFrame): void {
    this.#line?.send(JSON.stringify(frame));
  }

  leave(): void {
    this.#call?.hangUp();
  }

  #serve({ webSocket, token, proved }: Parameters<Server['serveCall']>[0]): void {
    const handshake = new NodeHandshake(token, { id: this.id, incarnation: this.incarnation, version: '0' });
    const send = (frame: NodeFrame): void => webSocket.send(JSON.stringify(frame));
    let isProved = false;
    webSocket.on('message', (data: Buffer) => {
      if (isProved) {
        this.#answer(webSocket, data);
        return;
      }
      const step = handshake.next(data);
      if (step.kind === 'challenge') send(step.frame);
      else if (step.kind === 'refused') webSocket.close();
      else {
        isProved = true;
        this.#line = webSocket;
        proved(true);
        send({ kind: 'ready', connectionId: 1, sequence: 1, controller: null } as NodeFrame);
      }
    });
    webSocket.once('close', () => {
      if (!isProved) proved(false);
    });
    webSocket.resume();
  }

  #answer(webSocket: WebSocket, data: Buffer): void {
    const { id, operation, params } = Request.parse(JSON.parse(data.toString()));
    this.asked.push({ operation: operation as OperationName, params });
    const answer = this.#answers[operation as OperationName];
    if (answer === undefined) throw new Error(`a stub was asked ${operation}`);
    webSocket.send(JSON.stringify({ kind: 'response', id, result: answer(params as never) }));
  }

  get emptySnapshot(): object {
    return {
      nodeId: this.id,
      incarnation: this.incarnation,
      sequence: 1,
      controller: null,
      changedAfter: null,
      truncated: false,
      workspaces: [],
      sessions: [],
      records: [],
      removed: { workspaces: [], sessions: [], records: [] },
      enabledProviders: [],
      launchInventory: {},
    };
  }
}

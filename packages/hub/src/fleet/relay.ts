// One client that works with one node: frames pass as they are, both ways. What the client asks is read, to hold it against its role and
// scope and for the audit log; what the node answers is read only where that needs it.
import type { NodeLine } from '@roost/client';
import {
  failure,
  FailureError,
  isOperationName,
  NodeFrame,
  OPERATIONS,
  RelayOpen,
  Request,
  REQUEST_BYTES_MAX,
  RequestPart,
  type Failure,
  type Incarnation,
  type NodeId,
  type OperationName,
  type Params,
  type RelayOpened,
  type Role,
  type SessionId,
  type UserName,
} from '@roost/protocol';
import { watchLiveness } from '@roost/protocol/node';
import type { RawData, WebSocket } from 'ws';
import { allow, type PlaceOf } from '../access/allow.ts';
import { isNodeMutation, opensForTyping } from '../access/mutations.ts';
import { looksAmongOwn, ownFailure, ownSelector } from '../access/own-selectors.ts';
import { workspacesOf, type Principal } from '../access/principal.ts';
import { seesNodeEvent, visibleResult } from '../access/visible.ts';
import type { NodeRequest, NodeView, RelayAudit } from './fleet.ts';
import type { LineRequest } from './node-way.ts';
import { OpenTerminals } from './open-terminals.ts';
import type { PartedBudget } from './parted-budget.ts';
import { passOn } from './pass-on.ts';

/** Milliseconds for the client's first frame. */
const OPEN_MS = 5_000;
/** Unfinished requests in parts of one client, and milliseconds for each. */
const PARTED_MAX = 4;
const PARTED_MS = 20_000;
/** Bytes that a part counts for beside its text. */
const PART_BYTES = 1_024;
/** Bytes of one, with what its parts count for. */
const PARTED_BYTES_MAX = 2 * REQUEST_BYTES_MAX;

/** Selectors of one client for which the node is asked for all that it has, at once. */
const LOOKED_UP_MAX = 4;

const GOING_AWAY = 1001;
const POLICY_VIOLATION = 1008;

export interface RelayOptions {
  readonly webSocket: WebSocket;
  readonly principal: Principal;
  readonly audit: RelayAudit;
  readonly nodeId: NodeId;
  readonly placeOf: PlaceOf;
  /** While the hub hears of that start of the node. @throws FailureError: node-offline, stale-incarnation. */
  readonly viewOf: (incarnation: Incarnation | undefined) => NodeView;
  /** Asks the node in the hub's own name. Fails as `Fleet.request` does. */
  readonly ask: (request: NodeRequest) => Promise<unknown>;
  /** A line to the node for this client. @throws FailureError: node-offline, and as `connectNode`. */
  readonly connect: (request: LineRequest) => Promise<NodeLine>;
  readonly clientName: string;
  readonly version: string;
  readonly now: () => number;
  /** Bytes that unfinished requests of all relays take. */
  readonly parted: PartedBudget;
  /** Milliseconds for each of them. */
  readonly partedMs?: number;
  /** Somebody opened or left the terminal of a session. */
  readonly watchersChanged: (sessionId: SessionId) => void;
}

interface Asked {
  readonly operation: OperationName;
  readonly params: unknown;
  /** Tells the audit log; null for what changes nothing. */
  readonly answered: ((outcome: string) => void) | null;
}

export class Relay {
  readonly terminals: OpenTerminals;
  readonly #options: RelayOptions;
  readonly #role: Role;
  /** The principal reaches a part of the node only: answers and events are read. */
  readonly #isPartial: boolean;
  /** Requests that are looked for among the answers, by id. */
  readonly #asked = new Map<number, Asked>();
  readonly #parts = new Map<
    number,
    { readonly texts: string[]; readonly timer: NodeJS.Timeout; bytes: number }
  >();
  #lookedUp = 0;
  #line: NodeLine | null = null;
  #isOpening = false;
  #isOver = false;
  readonly #timer: NodeJS.Timeout;

  constructor(options: RelayOptions) {
    this.#options = options;
    const { webSocket, principal, nodeId } = options;
    this.#role = principal.role === 'observer' ? 'observer' : 'operator';
    this.#isPartial = workspacesOf(principal, nodeId) !== null;
    this.terminals = new OpenTerminals(options.now, options.watchersChanged);
    this.#timer = setTimeout(() => this.#violate('nothing was asked for'), OPEN_MS);
    webSocket.on('message', (data: RawData, isBinary: boolean) => this.#fromClient(data as Buffer, isBinary));
    webSocket.on('error', () => webSocket.terminate());
    watchLiveness(webSocket);
    webSocket.once('close', () => this.end('the client left'));
  }

  /** null: the owner of the hub's directory. */
  get user(): UserName | null {
    return this.#options.principal.user;
  }

  end(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    for (const { answered } of this.#asked.values()) answered?.('outcome-unknown');
    this.#asked.clear();
    for (const id of [...this.#parts.keys()]) this.#forgetParts(id);
    this.terminals.closeAll();
    const { webSocket } = this.#options;
    // One that is held back would not hear that the other side closes, too, and stay for half a minute.
    for (const side of [this.#line?.webSocket, webSocket]) side?.resume();
    this.#line?.webSocket.close();
    if (webSocket.readyState === webSocket.OPEN) webSocket.close(GOING_AWAY, reason);
  }

  #fromClient(data: Buffer, isBinary: boolean): void {
    if (this.#isOver) return;
    const line = this.#line;
    if (line === null) {
      void this.#open(data, isBinary);
      return;
    }
    if (isBinary) {
      this.terminals.sawFromClient(data);
      passOn(this.#options.webSocket, line.webSocket, data, true);
      return;
    }
    const text = data.toString();
    const value = parseJson(text);
    const request = Request.safeParse(value).data;
    if (request !== undefined) {
      if (this.#admit(line, request)) passOn(this.#options.webSocket, line.webSocket, text, false);
      return;
    }
    const part = RequestPart.safeParse(value).data;
    if (part === undefined) this.#violate('not a request');
    else this.#takePart(line, part);
  }

  async #open(data: Buffer, isBinary: boolean): Promise<void> {
    const open = isBinary ? undefined : RelayOpen.safeParse(parseJson(data.toString())).data;
    if (open === undefined || this.#isOpening) {
      this.#violate('not the opening of a line');
      return;
    }
    this.#isOpening = true;
    clearTimeout(this.#timer);
    const { webSocket, connect, principal, clientName, version } = this.#options;
    let line: NodeLine;
    try {
      line = await connect({
        role: this.#role,
        client: { name: `${clientName}:${principal.user ?? 'local'}`.slice(0, 64), version },
        offer: { protocol: open.protocol, capabilities: open.capabilities },
      });
    } catch (error) {
      this.#refuse(error instanceof FailureError ? error.failure : failure('internal-error'));
      return;
    }
    if (this.#isOver) {
      line.webSocket.terminate();
      return;
    }
    this.#line = line;
    line.webSocket.on('message', (answer: RawData, isBytes: boolean) =>
      this.#fromNode(answer as Buffer, isBytes),
    );
    line.webSocket.on('error', () => line.webSocket.terminate());
    line.webSocket.once('close', () => this.end('the line to the node was lost'));
    const { selection, ready } = line;
    const opened: RelayOpened = { kind: 'opened', selection, ready, role: this.#role };
    webSocket.send(JSON.stringify(opened));
    if (line.webSocket.readyState !== line.webSocket.OPEN) this.end('the line to the node was lost');
  }

  /** Whole, it is judged like any other; what passes is passed on in the same parts. */
  #takePart(line: NodeLine, part: RequestPart): void {
    if (this.#role === 'observer') {
      // Whoever may only look has nothing long to say.
      this.#violate('an observer sends no long requests');
      return;
    }
    const { parted: budget, partedMs = PARTED_MS } = this.#options;
    const bytes = Buffer.byteLength(part.text) + PART_BYTES;
    const parted = this.#parts.get(part.id) ?? {
      texts: [],
      bytes: 0,
      // What it holds of the budget is held from the others, too.
      timer: setTimeout(() => this.#violate('an unfinished request'), partedMs).unref(),
    };
    this.#parts.set(part.id, parted);
    if (parted.bytes + bytes > PARTED_BYTES_MAX || !budget.take(bytes)) {
      this.#violate('too long a request');
      return;
    }
    parted.texts.push(part.text);
    parted.bytes += bytes;
    if (this.#parts.size > PARTED_MAX) {
      this.#violate('too many unfinished requests');
      return;
    }
    if (!part.last) return;
    this.#forgetParts(part.id);
    const { texts } = parted;
    const request = Request.safeParse(parseJson(texts.join(''))).data;
    if (request?.id !== part.id) {
      this.#answer(part.id, failure('invalid-request'));
      return;
    }
    if (!this.#admit(line, request)) return;
    for (const [index, text] of texts.entries()) {
      const frame: RequestPart = { kind: 'part', id: part.id, text, last: index === texts.length - 1 };
      passOn(this.#options.webSocket, line.webSocket, JSON.stringify(frame), false);
    }
  }

  #forgetParts(id: number): void {
    const parted = this.#parts.get(id);
    if (parted === undefined) return;
    clearTimeout(parted.timer);
    this.#options.parted.give(parted.bytes);
    this.#parts.delete(id);
  }

  /** Whether it is passed on as it is; else it is answered, or passed on once it is known what it means. */
  #admit(line: NodeLine, request: Request): boolean {
    const { id, operation, params } = request;
    const { principal, nodeId, placeOf, audit } = this.#options;
    // What the hub does not know it cannot judge.
    if (!isOperationName(operation)) {
      this.#answer(id, failure('unknown-operation', { operation }));
      return false;
    }
    const parsed = OPERATIONS[operation].params.safeParse(params ?? {});
    if (!parsed.success) {
      this.#answer(
        id,
        failure('invalid-request', {
          issues: parsed.error.issues.slice(0, 8).map(({ path }) => path.join('.')),
        }),
      );
      return false;
    }
    const refused = allow(principal, { nodeId, operation, params: parsed.data }, placeOf);
    if (refused !== null) {
      this.#answer(id, refused);
      return false;
    }
    const isAudited = isNodeMutation(operation) || opensForTyping(operation, parsed.data);
    const isNoted = isAudited || operation === 'terminal.open' || operation === 'terminal.close';
    if (!isNoted && !this.#isPartial) return true;
    if (this.#asked.has(id)) {
      this.#violate('that request id is in use');
      return false;
    }
    try {
      const answered = isAudited ? audit.asked({ operation, params: parsed.data }) : null;
      this.#asked.set(id, { operation, params: parsed.data, answered });
    } catch (error) {
      this.#answer(id, error instanceof FailureError ? error.failure : failure('storage-failed'));
      return false;
    }
    if (!looksAmongOwn(principal, { nodeId, operation })) return true;
    void this.#passOnOwn(line, request, { operation, params: parsed.data });
    return false;
  }

  /** With what its selector means among what the client reaches. */
  async #passOnOwn(
    line: NodeLine,
    request: Request,
    asked: { readonly operation: OperationName; readonly params: unknown },
  ): Promise<void> {
    const { principal, nodeId, viewOf, webSocket } = this.#options;
    const { incarnation } = line.selection.node;
    try {
      const own = await ownSelector(
        principal,
        { nodeId, ...asked },
        {
          viewOf: () => viewOf(incarnation),
          ask: (operation, params) => this.#lookUp({ operation, params, incarnation }),
        },
      );
      if (this.#isOver) return;
      passOn(webSocket, line.webSocket, JSON.stringify({ ...request, params: own ?? asked.params }), false);
    } catch (error) {
      if (this.#isOver) return;
      this.#asked.delete(request.id);
      this.#answer(request.id, error instanceof FailureError ? error.failure : failure('internal-error'));
    }
  }

  async #lookUp(request: NodeRequest): Promise<unknown> {
    if (this.#lookedUp >= LOOKED_UP_MAX) throw new FailureError('backend-busy', { limit: LOOKED_UP_MAX });
    this.#lookedUp += 1;
    try {
      return await this.#options.ask(request);
    } finally {
      this.#lookedUp -= 1;
    }
  }

  #fromNode(data: Buffer, isBinary: boolean): void {
    if (this.#isOver) return;
    const { webSocket } = this.#options;
    const from = this.#line?.webSocket;
    if (from === undefined) return;
    if (isBinary) this.terminals.sawFromNode(data);
    if (isBinary || (this.#asked.size === 0 && !this.#isPartial)) {
      passOn(from, webSocket, data, isBinary);
      return;
    }
    const text = data.toString();
    const shown = this.#isPartial ? this.#visible(text) : this.#noted(text);
    if (shown !== null) passOn(from, webSocket, shown, false);
  }

  /** Notes the outcome of what was audited; the frame stays as it is. */
  #noted(text: string): string {
    const id = answeredId(text);
    const asked = id === null ? undefined : this.#asked.get(id);
    if (id === null || asked === undefined) return text;
    this.#asked.delete(id);
    const frame = parseJson(text);
    const outcome = outcomeOf(frame);
    asked.answered?.(outcome);
    if (outcome === 'done' && isObject(frame)) this.#noteTerminal(asked, frame.result);
    return text;
  }

  #noteTerminal({ operation, params }: Asked, result: unknown): void {
    if (operation === 'terminal.close') this.terminals.closed((params as Params<'terminal.close'>).channel);
    if (operation !== 'terminal.open') return;
    const channel = isObject(result) ? result.channel : null;
    if (typeof channel === 'number') this.terminals.opened(channel, params as Params<'terminal.open'>);
  }

  /** As the principal sees it; null: not at all. */
  #visible(text: string): string | null {
    const { principal, nodeId } = this.#options;
    const value = parseJson(text);
    const frame = NodeFrame.safeParse(value).data;
    switch (frame?.kind) {
      case 'event':
        return seesNodeEvent(principal, nodeId, frame.event.body) ? text : null;
      case 'response': {
        const asked = this.#asked.get(frame.id);
        this.#asked.delete(frame.id);
        if (asked === undefined) return null;
        asked.answered?.('done');
        this.#noteTerminal(asked, frame.result);
        return this.#visibleAnswer(frame.id, asked, frame.result);
      }
      case 'failure': {
        const asked = this.#asked.get(frame.id);
        this.#noted(text);
        return asked === undefined ? text : this.#visibleFailure(frame.id, asked, frame.failure);
      }
      // Of sessions that were asked for by name, and judged then.
      case 'screen':
      case 'output':
      case 'resync-required':
        return text;
      case 'challenge':
      case 'ready':
      case 'refused':
      case undefined:
        return null;
    }
  }

  #visibleAnswer(id: number, asked: Asked, result: unknown): string {
    const { principal, nodeId } = this.#options;
    const { operation } = asked;
    try {
      return JSON.stringify({
        kind: 'response',
        id,
        result: visibleResult(principal, { nodeId, operation, result }),
      });
    } catch (error) {
      const reason = error instanceof FailureError ? error.failure : failure('internal-error');
      return this.#visibleFailure(id, asked, reason);
    }
  }

  #visibleFailure(id: number, { operation, params }: Asked, reason: Failure): string {
    const { principal, nodeId } = this.#options;
    const own = ownFailure(principal, { nodeId, operation, params }, reason);
    return JSON.stringify({ kind: 'failure', id, failure: own });
  }

  #answer(id: number, reason: Failure): void {
    this.#send({ kind: 'failure', id, failure: reason });
  }

  #refuse(reason: Failure): void {
    this.#send({ kind: 'refused', failure: reason });
    this.end(reason.code);
  }

  #violate(reason: string): void {
    if (this.#isOver) return;
    this.#options.webSocket.close(POLICY_VIOLATION, reason);
    this.end(reason);
  }

  #send(frame: NodeFrame): void {
    const { webSocket } = this.#options;
    // Whoever asks without reading the answers is not read either.
    passOn(webSocket, webSocket, JSON.stringify(frame), false);
  }
}

/** A node writes its answers so that their id stands at the front. */
const ANSWER = /^\{"kind":"(?:response|failure)","id":(\d+)/;

function answeredId(text: string): number | null {
  const match = ANSWER.exec(text);
  if (match !== null) return Number(match[1]);
  // One that writes them in another order is read as a whole.
  const frame = parseJson(text);
  if (!isObject(frame) || (frame.kind !== 'response' && frame.kind !== 'failure')) return null;
  return typeof frame.id === 'number' ? frame.id : null;
}

function outcomeOf(frame: unknown): string {
  if (!isObject(frame) || frame.kind !== 'failure') return 'done';
  return isObject(frame.failure) && typeof frame.failure.code === 'string'
    ? frame.failure.code
    : 'internal-error';
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

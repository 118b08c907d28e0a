// For tests: a line to a node that is made of data. What is asked of it is answered by functions; events come when the test says so.
import type { NodeConnection } from '@roost/client';
import {
  Incarnation,
  NodeId,
  OFFERED_CAPABILITIES,
  type NodeEvent,
  type NodeSnapshot,
  type OperationName,
  type UnknownEvent,
} from '@roost/protocol';

type Listener = (event: NodeEvent | UnknownEvent, bytes: number) => void;
type Answers = Partial<Record<OperationName, (params: unknown) => unknown>>;

export const NODE_ID = NodeId.parse('a'.repeat(16));
export const INCARNATION = Incarnation.parse('1'.repeat(16));

export class FakeConnection {
  readonly asked: { readonly operation: OperationName; readonly params: unknown }[] = [];
  readonly node: { id: NodeId; incarnation: Incarnation; version: string };
  readonly capabilities: readonly string[] = [...OFFERED_CAPABILITIES];
  isClosed = false;
  #onEvent: Listener = () => undefined;
  #onResync: () => void = () => undefined;
  readonly #closing = new Set<() => void>();
  readonly #answers: Answers;

  constructor(answers: Answers = {}, node: Partial<FakeConnection['node']> = {}) {
    this.node = { id: NODE_ID, incarnation: INCARNATION, version: '1.0.0', ...node };
    this.#answers = {
      'node.snapshot': () => emptySnapshot(),
      'interaction.list': () => ({ interactions: [], truncated: false }),
      'events.subscribe': () => ({ last: 0, floor: 0, resyncRequired: false }),
      ...answers,
    };
  }

  /** As the fleet sees it: of the rest it needs nothing. */
  get line(): NodeConnection {
    return this as unknown as NodeConnection;
  }

  request(operation: OperationName, params: unknown): Promise<unknown> {
    this.asked.push({ operation, params });
    return new Promise((resolve) => resolve(this.#answers[operation]?.(params)));
  }

  subscribeEvents(after: unknown, onEvent: Listener, onResync: () => void): Promise<unknown> {
    this.#onEvent = onEvent;
    this.#onResync = onResync;
    return this.request('events.subscribe', after);
  }

  tell(event: NodeEvent | UnknownEvent, bytes = JSON.stringify(event).length): void {
    this.#onEvent(event, bytes);
  }

  requireResync(): void {
    this.#onResync();
  }

  onClose(listener: () => void): () => void {
    this.#closing.add(listener);
    return () => this.#closing.delete(listener);
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const listener of this.#closing) listener();
  }
}

export function emptySnapshot(more: Partial<NodeSnapshot> = {}): NodeSnapshot {
  return {
    nodeId: NODE_ID,
    incarnation: INCARNATION,
    sequence: 0,
    controller: null,
    changedAfter: null,
    truncated: false,
    workspaces: [],
    sessions: [],
    records: [],
    removed: { workspaces: [], sessions: [], records: [] },
    enabledProviders: [],
    launchInventory: {},
    ...more,
  };
}

/**
 * The entries of a timeline as what people read: pieces of one message joined, tool calls with their outcomes, requests with their answers.
 * Pure; folding the same entries in other portions gives the same items.
 */
import type { AgentEvent, TimelineEntry, TokenUsage } from '@roost/protocol';

type EventOf<Kind extends AgentEvent['kind']> = Extract<AgentEvent, { kind: Kind }>;

interface Placed {
  /** Unique, and the same for the same thing in every fold. */
  readonly key: string;
  readonly at: string;
  /** Of a sub-agent; null: of the agent itself. */
  readonly agentId: string | null;
}

export interface ToolItem extends Placed {
  readonly kind: 'tool';
  readonly tool: string;
  readonly title: string | null;
  /** JSON as text. */
  readonly input: string;
  /** null: it runs, or nobody told its end. */
  readonly outcome: EventOf<'tool-finished'>['outcome'] | null;
  readonly output: string;
  readonly durationMs: number | null;
}

interface RequestItem extends Placed {
  readonly kind: 'request';
  readonly request: EventOf<'interaction-requested'>;
  /** null: it waits. */
  readonly outcome: EventOf<'interaction-settled'>['outcome'] | null;
}

export type TimelineItem =
  | (Placed & { readonly kind: 'prompt'; readonly text: string | null })
  | (Placed & { readonly kind: 'message' | 'thinking'; readonly text: string })
  | ToolItem
  | RequestItem
  | (Placed & { readonly kind: 'plan'; readonly entries: EventOf<'plan'>['entries'] })
  | (Placed & {
      readonly kind: 'turn-end';
      readonly outcome: EventOf<'turn-finished'>['outcome'];
      readonly fault: string | null;
    })
  | (Placed & { readonly kind: 'note'; readonly level: 'info' | 'warning' | 'error'; readonly text: string });

export interface Timeline {
  readonly items: readonly TimelineItem[];
  /** The newest that was told for each scope. */
  readonly usage: Readonly<Partial<Record<TokenUsage['scope'], TokenUsage>>>;
  /** What can be chosen, by choice. */
  readonly choices: ReadonlyMap<string, EventOf<'choices'>>;
  readonly model: string | null;
  /** A turn runs. */
  readonly isWorking: boolean;
}

export const EMPTY_TIMELINE: Timeline = {
  items: [],
  usage: {},
  choices: new Map(),
  model: null,
  isWorking: false,
};

/** The timeline with these entries after it. */
export function foldTimeline(timeline: Timeline, entries: readonly TimelineEntry[]): Timeline {
  if (entries.length === 0) return timeline;
  const folding = new Folding(timeline);
  for (const entry of entries) folding.take(entry);
  return folding.finish();
}

class Folding {
  readonly #items: TimelineItem[];
  readonly #usage: Partial<Record<TokenUsage['scope'], TokenUsage>>;
  readonly #choices: Map<string, EventOf<'choices'>>;
  #model: string | null;
  #isWorking: boolean;

  constructor({ items, usage, choices, model, isWorking }: Timeline) {
    this.#items = [...items];
    this.#usage = { ...usage };
    this.#choices = new Map(choices);
    this.#model = model;
    this.#isWorking = isWorking;
  }

  finish(): Timeline {
    return {
      items: this.#items,
      usage: this.#usage,
      choices: this.#choices,
      model: this.#model,
      isWorking: this.#isWorking,
    };
  }

  take({ position, at, event }: TimelineEntry): void {
    const place: Placed = {
      key: String(position),
      at,
      agentId: 'agentId' in event ? (event.agentId ?? null) : null,
    };
    const note = (level: 'info' | 'warning' | 'error', text: string): void =>
      void this.#items.push({ ...place, kind: 'note', level, text });
    switch (event.kind) {
      case 'session-started':
        this.#model = event.model ?? this.#model;
        return;
      case 'identity':
        return;
      case 'turn-started':
        this.#isWorking = true;
        this.#items.push({ ...place, kind: 'prompt', text: event.prompt });
        return;
      case 'message':
      case 'thinking':
        this.#say(place, event);
        return;
      case 'tool-started':
        this.#items.push({
          ...place,
          ...event,
          agentId: place.agentId,
          kind: 'tool',
          outcome: null,
          output: '',
          durationMs: null,
          key: toolKey(event.toolId),
        });
        return;
      case 'tool-finished':
        this.#finishTool(event);
        return;
      case 'plan':
        this.#putPlan(place, event.entries);
        return;
      case 'interaction-requested':
        this.#items.push({
          ...place,
          kind: 'request',
          request: event,
          outcome: null,
          key: `request ${event.requestId}`,
        });
        return;
      case 'interaction-settled':
        this.#replaceLast(
          (item): item is RequestItem =>
            item.kind === 'request' && item.request.requestId === event.requestId,
          (item) => ({ ...item, outcome: event.outcome }),
        );
        return;
      case 'blocked':
        note('warning', `${event.tool} was refused: ${event.reason}`);
        return;
      case 'quota':
        note(
          'warning',
          event.resetsAt === null ? event.message : `${event.message} (until ${event.resetsAt})`,
        );
        return;
      case 'usage':
        this.#usage[event.usage.scope] = event.usage;
        return;
      case 'turn-finished':
        this.#isWorking = false;
        if (event.outcome !== 'completed')
          this.#items.push({ ...place, kind: 'turn-end', outcome: event.outcome, fault: event.fault });
        return;
      case 'notice':
        note(event.level, event.text);
        return;
      case 'subagent-started':
        note('info', event.title === null ? 'A sub-agent began' : `A sub-agent began: ${event.title}`);
        return;
      case 'subagent-finished':
        return;
      case 'choices':
        this.#choices.set(event.choice, event);
        return;
      case 'session-ended':
        this.#isWorking = false;
        if (event.fault !== null) note('error', event.fault);
    }
  }

  /** A piece continues the one before it; a whole message replaces its pieces. */
  #say(place: Placed, { kind, text, delta }: EventOf<'message' | 'thinking'>): void {
    const last = this.#items.at(-1);
    const isContinued =
      last?.kind === kind && last.agentId === place.agentId && (delta || text.startsWith(last.text));
    if (isContinued) this.#items[this.#items.length - 1] = { ...last, text: delta ? last.text + text : text };
    else if (text !== '') this.#items.push({ ...place, kind, text });
  }

  #finishTool({ toolId, outcome, output, durationMs }: EventOf<'tool-finished'>): void {
    this.#replaceLast(
      (item): item is ToolItem => item.kind === 'tool' && item.key === toolKey(toolId),
      (item) => ({ ...item, outcome, output, durationMs }),
    );
  }

  /** One plan for a turn: it is told anew with every step. */
  #putPlan(place: Placed, entries: EventOf<'plan'>['entries']): void {
    const turn = this.#items.findLastIndex(({ kind }) => kind === 'prompt');
    const at = this.#items.findLastIndex(({ kind }) => kind === 'plan');
    const known = this.#items[at];
    if (at > turn && known?.kind === 'plan') this.#items[at] = { ...known, entries };
    else this.#items.push({ ...place, kind: 'plan', entries });
  }

  #replaceLast<Item extends TimelineItem>(
    isIt: (item: TimelineItem) => item is Item,
    change: (item: Item) => TimelineItem,
  ): void {
    const at = this.#items.findLastIndex(isIt);
    const item = this.#items[at];
    if (item !== undefined && isIt(item)) this.#items[at] = change(item);
  }
}

function toolKey(toolId: string): string {
  return `tool ${toolId}`;
}

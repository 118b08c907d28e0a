/**
 * What every driver keeps of the agent it speaks with, and the only place that emits its events. It holds them to an order: a
 * turn ends once, after its tools and requests; a request is settled once; nothing follows the end of the session. All of it is bounded,
 * whatever the agent sends.
 */
import {
  AGENT_LIST_MAX,
  type AgentEvent,
  type InteractionKind,
  type InteractionOption,
} from '@roost/protocol';
import * as z from 'zod';
import type { DriverPort } from './agent-driver.ts';
import { byteLength, eventJson, eventName, eventPieces, eventSentence, eventText } from './agent-text.ts';
import { type BlockedEvent, blockedByQuota, type ProviderFault, quotaEvent } from './blocked.ts';

/** Tools that run at a time and are known by name; one more, and the oldest is forgotten. */
const OPEN_TOOLS_MAX = 64;
/** Requests that wait at a time; one more is refused by the driver. */
const OPEN_REQUESTS_MAX = 16;
/** Bytes, as JSON, of what a driver keeps to answer all of them. With the two above, a state stays under 256 KiB. */
const KEPT_BYTES_MAX = 112 * 1024;
const SUBAGENTS_MAX = 64;
/** Bytes of an id that is kept: all that were seen are shorter than half of it. */
const ID_BYTES_MAX = 128;
/** Lines that are not understood and told, in the life of a process. */
const STRANGE_LINES_TOLD = 8;
/** Characters of such a line that are shown. */
const STRANGE_LINE_SHOWN = 120;

const boundedId = z.string().max(ID_BYTES_MAX);

export const conversationState = <Kept extends z.ZodType>(kept: Kept) =>
  z.object({
    phase: z.enum(['opening', 'open', 'ended']),
    session: z
      .object({
        providerSessionId: z.string().nullable(),
        model: z.string().nullable(),
        version: z.string().nullable(),
      })
      .nullable(),
    isTurnOpen: z.boolean(),
    tools: z
      .array(
        z.object({ id: boundedId, tool: boundedId, agentId: boundedId.nullable(), refused: z.boolean() }),
      )
      .max(OPEN_TOOLS_MAX),
    requests: z
      .array(z.object({ id: boundedId, toolId: boundedId.nullable(), agentId: boundedId.nullable(), kept }))
      .max(OPEN_REQUESTS_MAX),
    subagents: z.array(boundedId).max(SUBAGENTS_MAX),
    choices: z.array(z.tuple([boundedId, z.string()])).max(AGENT_LIST_MAX),
    strangeLines: z.int().nonnegative(),
    /** First halves of characters whose second half comes with the next piece. */
    halves: z.object({ message: z.string().max(1), thinking: z.string().max(1) }),
  });

export interface ConversationState<Kept> {
  readonly phase: 'opening' | 'open' | 'ended';
  readonly session: SessionFacts | null;
  readonly isTurnOpen: boolean;
  readonly tools: readonly OpenTool[];
  readonly requests: readonly OpenRequest<Kept>[];
  readonly subagents: readonly string[];
  readonly choices: readonly (readonly [string, string])[];
  readonly strangeLines: number;
  readonly halves: { readonly message: string; readonly thinking: string };
}

interface SessionFacts {
  readonly providerSessionId: string | null;
  readonly model: string | null;
  readonly version: string | null;
}

interface OpenTool {
  readonly id: string;
  readonly tool: string;
  readonly agentId: string | null;
  readonly refused: boolean;
}

interface OpenRequest<Kept> {
  readonly id: string;
  readonly toolId: string | null;
  readonly agentId: string | null;
  readonly kept: Kept;
}

/** Something that a person has to answer. */
export interface Asked<Kept> {
  readonly requestId: string;
  readonly interaction: InteractionKind;
  readonly tool: string | null;
  readonly toolId: string | null;
  readonly title: string;
  readonly detail: string;
  readonly options: readonly InteractionOption[];
  readonly agentId?: string | null;
  /** All that is needed to answer it. */
  readonly kept: Kept;
}

export interface ToolResult {
  readonly outcome: 'ok' | 'error' | 'refused' | 'interrupted';
  readonly output: string;
  readonly durationMs?: number | null;
}

type TurnEnd = Extract<AgentEvent, { kind: 'turn-finished' }>['outcome'];
type SettledOutcome = Extract<AgentEvent, { kind: 'interaction-settled' }>['outcome'];
type PlanEntries = Extract<AgentEvent, { kind: 'plan' }>['entries'];
type Usage = Extract<AgentEvent, { kind: 'usage' }>['usage'];

const NEW: ConversationState<never> = {
  phase: 'opening',
  session: null,
  isTurnOpen: false,
  tools: [],
  requests: [],
  subagents: [],
  choices: [],
  strangeLines: 0,
  halves: { message: '', thinking: '' },
};

export class Conversation<Kept> {
  readonly #port: DriverPort;
  #phase: ConversationState<Kept>['phase'];
  #session: SessionFacts | null;
  #isTurnOpen: boolean;
  readonly #tools: Map<string, OpenTool>;
  readonly #requests: Map<string, OpenRequest<Kept>>;
  readonly #subagents: Set<string>;
  readonly #choices: Map<string, string>;
  #strangeLines: number;
  readonly #halves: { message: string; thinking: string };

  constructor(port: DriverPort, state: ConversationState<Kept> = NEW) {
    this.#port = port;
    this.#phase = state.phase;
    this.#session = state.session;
    this.#isTurnOpen = state.isTurnOpen;
    this.#tools = new Map(state.tools.map((tool) => [tool.id, tool]));
    this.#requests = new Map(state.requests.map((request) => [request.id, request]));
    this.#subagents = new Set(state.subagents);
    this.#choices = new Map(state.choices);
    this.#strangeLines = state.strangeLines;
    this.#halves = { ...state.halves };
  }

  get isOpen(): boolean {
    return this.#phase === 'open';
  }

  get hasEnded(): boolean {
    return this.#phase === 'ended';
  }

  get isTurnOpen(): boolean {
    return this.#isTurnOpen;
  }

  get takesPrompt(): boolean {
    return this.isOpen && !this.#isTurnOpen;
  }

  get openRequests(): readonly string[] {
    return [...this.#requests.keys()];
  }

  get session(): SessionFacts | null {
    return this.#session;
  }

  /** From here on it takes prompts. Told again, only what is new is an event; null says nothing. */
  started(facts: Readonly<Record<keyof SessionFacts, string | null | undefined>>): void {
    if (this.hasEnded) return;
    const before = this.#session;
    const session = {
      providerSessionId: eventName(facts.providerSessionId) ?? before?.providerSessionId ?? null,
      model: eventName(facts.model) ?? before?.model ?? null,
      version: eventName(facts.version) ?? before?.version ?? null,
    };
    this.#phase = 'open';
    if (before !== null && JSON.stringify(before) === JSON.stringify(session)) return;
    this.#session = session;
    this.#emit({ kind: 'session-started', ...session });
  }

  beginTurn(prompt: string | null): void {
    if (this.#isTurnOpen || this.hasEnded) return;
    this.#isTurnOpen = true;
    this.#emit({ kind: 'turn-started', prompt: prompt === null ? null : eventText(prompt) });
  }

  endTurn(outcome: TurnEnd, ending: { stopReason?: string | null; fault?: string | null } = {}): void {
    if (!this.#isTurnOpen) return;
    // What a sub-agent in the background does goes on.
    this.#settle((agentId) => agentId === null);
    this.#isTurnOpen = false;
    this.#emit({
      kind: 'turn-finished',
      outcome,
      stopReason: eventName(ending.stopReason),
      fault: eventSentence(ending.fault ?? '') || null,
    });
  }

  /** `delta`: a piece; otherwise a whole message, which replaces its pieces. */
  said(as: 'message' | 'thinking', text: string, delta: boolean, agentId: string | null = null): void {
    const by = eventId(agentId);
    if (!delta) {
      this.#halves[as] = '';
      if (text !== '') this.#emit({ kind: as, text: eventText(text), delta, ...ofAgent(by) });
      return;
    }
    let piece = this.#halves[as] + text;
    this.#halves[as] = '';
    const last = piece.charCodeAt(piece.length - 1);
    if (last >= 0xd800 && last <= 0xdbff) {
      this.#halves[as] = piece.slice(-1);
      piece = piece.slice(0, -1);
    }
    for (const part of eventPieces(piece)) this.#emit({ kind: as, text: part, delta, ...ofAgent(by) });
  }

  isToolOpen(toolId: string): boolean {
    return this.#tools.has(eventId(toolId) ?? '');
  }

  toolName(toolId: string): string | null {
    return this.#tools.get(eventId(toolId) ?? '')?.tool ?? null;
  }

  /** Told again of a tool that runs, it is nothing. */
  toolStarted(call: {
    readonly toolId: string;
    readonly tool: string;
    readonly title?: string | null;
    readonly input: unknown;
    readonly agentId?: string | null;
  }): void {
    const toolId = eventId(call.toolId);
    if (toolId === null || this.#tools.has(toolId)) return;
    const agentId = eventId(call.agentId);
    const tool = eventId(call.tool) ?? 'Tool';
    if (this.#tools.size >= OPEN_TOOLS_MAX) dropOldest(this.#tools);
    this.#tools.set(toolId, { id: toolId, tool, agentId, refused: false });
    this.#emit({
      kind: 'tool-started',
      toolId,
      tool,
      title: eventSentence(call.title ?? '') || null,
      input: eventJson(call.input),
      ...ofAgent(agentId),
    });
  }

  /** Of a tool that is not known to run, it is nothing. */
  toolFinished(id: string, result: ToolResult): void {
    const open = this.#tools.get(eventId(id) ?? '');
    if (open === undefined) return;
    this.#tools.delete(open.id);
    this.#emit({
      kind: 'tool-finished',
      toolId: open.id,
      outcome: open.refused && result.outcome === 'error' ? 'refused' : result.outcome,
      output: eventText(result.output),
      durationMs: wholeNumber(result.durationMs),
      ...ofAgent(open.agentId),
    });
  }

  /** Its error, when it comes, is a refusal. */
  toolRefused(id: string | null): void {
    const open = this.#tools.get(eventId(id) ?? '');
    if (open !== undefined) this.#tools.set(open.id, { ...open, refused: true });
  }

  /** @returns false when it cannot be kept: then whoever asked must be refused. */
  asked(request: Asked<Kept>): boolean {
    const { requestId, tool, toolId, agentId } = request;
    if (this.hasEnded || eventId(requestId) !== requestId || this.#requests.size >= OPEN_REQUESTS_MAX)
      return false;
    const kept = [...this.#requests.values()].map((one) => one.kept);
    if (byteLength(JSON.stringify([...kept, request.kept])) > KEPT_BYTES_MAX) return false;
    this.#requests.set(requestId, {
      id: requestId,
      toolId: eventId(toolId),
      agentId: eventId(agentId),
      kept: request.kept,
    });
    this.#emit({
      kind: 'interaction-requested',
      requestId,
      interaction: request.interaction,
      tool: eventId(tool),
      toolId: eventId(toolId),
      title: eventSentence(request.title),
      detail: eventText(request.detail),
      // An id that would have to be cut could not be answered with.
      options: request.options
        .filter(({ optionId }) => optionId !== '' && eventName(optionId) === optionId)
        .slice(0, AGENT_LIST_MAX)
        .map((option) => ({ ...option, label: eventSentence(option.label) })),
      ...ofAgent(eventId(agentId)),
    });
    return true;
  }

  request(requestId: string): OpenRequest<Kept> | null {
    return this.#requests.get(requestId) ?? null;
  }

  /** Requests with what is kept of them. */
  get requests(): readonly OpenRequest<Kept>[] {
    return [...this.#requests.values()];
  }

  settled(requestId: string, outcome: SettledOutcome): void {
    const request = this.#requests.get(requestId);
    if (request === undefined) return;
    this.#requests.delete(requestId);
    if (outcome === 'refused') this.toolRefused(request.toolId);
    this.#emit({ kind: 'interaction-settled', requestId, outcome });
  }

  plan(entries: readonly { readonly text: string; readonly status: PlanEntries[number]['status'] }[]): void {
    this.#emit({
      kind: 'plan',
      entries: entries
        .slice(0, AGENT_LIST_MAX)
        .map(({ text, status }) => ({ text: eventSentence(text), status })),
    });
  }

  blocked(event: BlockedEvent): void {
    if (event.toolId !== null) this.toolRefused(event.toolId);
    this.#emit(event);
  }

  /** A limit of the account; a final one blocks the session. */
  quota(fault: ProviderFault, isFinal: boolean, resetsAt: string | null = null): void {
    this.#emit(quotaEvent(fault, { isFinal, resetsAt, now: this.#port.now() }));
    if (isFinal) this.#emit(blockedByQuota(fault));
  }

  /** Counts that are no counts are unknown. */
  usage(
    scope: Usage['scope'],
    counts: Partial<Record<keyof Omit<Usage, 'scope'>, number | null | undefined>>,
  ): void {
    const usage: Usage = {
      scope,
      inputTokens: wholeNumber(counts.inputTokens),
      cacheReadTokens: wholeNumber(counts.cacheReadTokens),
      cacheWriteTokens: wholeNumber(counts.cacheWriteTokens),
      outputTokens: wholeNumber(counts.outputTokens),
      reasoningTokens: wholeNumber(counts.reasoningTokens),
      contextWindow: wholeNumber(counts.contextWindow === 0 ? null : counts.contextWindow),
      contextUsed: wholeNumber(counts.contextUsed),
      costUsd:
        typeof counts.costUsd === 'number' && Number.isFinite(counts.costUsd) && counts.costUsd >= 0
          ? counts.costUsd
          : null,
    };
    const { scope: _, ...values } = usage;
    if (Object.values(values).some((value) => value !== null)) this.#emit({ kind: 'usage', usage });
  }

  notice(level: 'info' | 'warning' | 'error', text: string): void {
    const sentence = eventSentence(text);
    if (sentence !== '') this.#emit({ kind: 'notice', level, text: sentence });
  }

  /** A line that no message of the protocol is: the first few are told. */
  strangeLine(line: string): void {
    if (line.trim() === '' || this.#strangeLines >= STRANGE_LINES_TOLD) return;
    this.#strangeLines += 1;
    this.notice('warning', `Not understood: ${line.slice(0, STRANGE_LINE_SHOWN)}`);
  }

  subagentStarted(id: string, title: string | null): void {
    const agentId = eventId(id);
    if (agentId === null || this.#subagents.has(agentId) || this.#subagents.size >= SUBAGENTS_MAX) return;
    this.#subagents.add(agentId);
    this.#emit({ kind: 'subagent-started', agentId, title: eventSentence(title ?? '') || null });
  }

  subagentFinished(id: string): void {
    const agentId = eventId(id);
    if (agentId !== null && this.#subagents.delete(agentId))
      this.#emit({ kind: 'subagent-finished', agentId });
  }

  /** Told when it is new, or has changed. */
  choices(
    choice: string,
    current: string | null,
    available: readonly { readonly id: string; readonly label: string }[],
  ): void {
    const named = eventId(choice);
    if (named === null) return;
    const listed = available.slice(0, AGENT_LIST_MAX).flatMap(({ id, label }) => {
      const one = eventName(id);
      return one === null ? [] : [{ id: one, label: eventSentence(label) }];
    });
    const event = { kind: 'choices', choice: named, current: eventName(current), available: listed } as const;
    const print = fingerprint(JSON.stringify(event));
    if (this.#choices.get(named) === print) return;
    if (!this.#choices.has(named) && this.#choices.size >= AGENT_LIST_MAX) return;
    this.#choices.set(named, print);
    this.#emit(event);
  }

  ended(fault: string | null): void {
    if (this.hasEnded) return;
    this.endTurn('failed', { fault: fault ?? 'the agent ended' });
    this.#settle(() => true);
    for (const agentId of this.#subagents) this.#emit({ kind: 'subagent-finished', agentId });
    this.#subagents.clear();
    this.#emit({ kind: 'session-ended', fault: eventSentence(fault ?? '') || null });
    this.#phase = 'ended';
  }

  state(): ConversationState<Kept> {
    return {
      phase: this.#phase,
      session: this.#session,
      isTurnOpen: this.#isTurnOpen,
      tools: [...this.#tools.values()],
      requests: [...this.#requests.values()],
      subagents: [...this.#subagents],
      choices: [...this.#choices],
      strangeLines: this.#strangeLines,
      halves: { ...this.#halves },
    };
  }

  #settle(isOver: (agentId: string | null) => boolean): void {
    this.#halves.message = '';
    this.#halves.thinking = '';
    for (const { id, agentId } of [...this.#requests.values()]) {
      if (isOver(agentId)) this.settled(id, 'withdrawn');
    }
    for (const { id, agentId, refused } of [...this.#tools.values()]) {
      if (isOver(agentId)) {
        this.toolFinished(id, { outcome: refused ? 'refused' : 'interrupted', output: '' });
      }
    }
  }

  #emit(event: AgentEvent): void {
    if (!this.hasEnded) this.#port.emit(event);
  }
}

/** As ids of tools, requests and agents are kept and told. */
export const eventId = (id: string | null | undefined): string | null => eventName(id, ID_BYTES_MAX);

const ofAgent = (agentId: string | null): { agentId?: string } => (agentId === null ? {} : { agentId });

function wholeNumber(value: number | null | undefined): number | null {
  if (typeof value !== 'number') return null;
  const whole = Math.round(value);
  return Number.isSafeInteger(whole) && whole >= 0 ? whole : null;
}

function dropOldest(map: Map<string, unknown>): void {
  for (const key of map.keys()) {
    map.delete(key);
    return;
  }
}

/** Tells one text from another well enough to notice a change (FNV-1a, 32 bits, and the length). */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return `${text.length}:${(hash >>> 0).toString(16)}`;
}

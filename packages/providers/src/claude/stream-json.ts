/**
 * Claude Code's two-way stream: one process, many turns, and every permission asked for on the same pipe. Seen with 2.1.197:
 * `claude -p --input-format stream-json --output-format stream-json --verbose --include-partial-messages --permission-prompt-tool stdio`.
 * A session is resumed by an argument, `--resume ID`; the end of standard input ends the process.
 */
import * as z from 'zod';
import type {
  AgentDriver,
  AgentProtocol,
  DriverOpening,
  DriverPort,
  InteractionAnswer,
} from '../agent-driver.ts';
import { boundText, byteLength } from '../agent-text.ts';
import { Conversation, conversationState, eventId } from '../conversation.ts';
import { isObject, type JsonObject, read, readObject } from '../json-object.ts';
import { resetTimeOfNumber } from '../reset-time.ts';
import { AskedOfPerson, PermissionRequests } from './permission-requests.ts';
import { Refusals } from './refusals.ts';
import {
  AssistantLine,
  CanUseTool,
  ControlCancelLine,
  ControlRequestLine,
  ControlResponseLine,
  InitializeResult,
  InitLine,
  RateLimitLine,
  ResultLine,
  StreamEventLine,
  SystemLine,
  UserLine,
} from './stream-lines.ts';
import { codeOfStatus, faultOf, tellTurnEnd } from './turn-end.ts';

/** Our own requests that wait for a response at a time. */
const OWN_REQUESTS_MAX = 16;

const PERMISSION_MODE = 'permission-mode';
const MODEL = 'model';
/** It lists them nowhere. `bypassPermissions` is refused unless the process was started for it. */
const PERMISSION_MODES = [
  { id: 'default', label: 'Ask before what is not allowed' },
  { id: 'acceptEdits', label: 'Edit files without asking' },
  { id: 'plan', label: 'Plan, and change nothing' },
  { id: 'dontAsk', label: 'Refuse instead of asking' },
  { id: 'auto', label: 'Let a classifier decide' },
  { id: 'bypassPermissions', label: 'Allow everything' },
];

const OwnRequest = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('initialize') }),
  z.object({ kind: z.literal('interrupt') }),
  z.object({ kind: z.literal('choose'), choice: z.enum([PERMISSION_MODE, MODEL]), id: z.string() }),
]);
type OwnRequest = z.infer<typeof OwnRequest>;

const Tokens = z.object({ used: z.number().nullable(), model: z.string().nullable() });

const State = z.object({
  protocol: z.literal('claude-stream-json'),
  conversation: conversationState(AskedOfPerson),
  lastRequest: z.int().nonnegative(),
  ownRequests: z.array(z.tuple([z.string(), OwnRequest])),
  isInterrupting: z.boolean(),
  /** Of the last call of a model by the agent itself. */
  context: Tokens,
  toldRefusals: z.array(z.string()),
  limitResetsAt: z.string().nullable(),
  /** Its word for the fault of the service that a message of this turn told. */
  serviceFault: z.string().nullable(),
  costUsd: z.number(),
  models: z.array(z.object({ id: z.string(), label: z.string() })),
  permissionMode: z.string().nullable(),
});
type State = z.infer<typeof State>;

export const claudeStreamJson: AgentProtocol = {
  id: 'claude-stream-json',
  create: (port) => new ClaudeStreamDriver(port, null),
  restore: (port, state) => {
    const parsed = State.safeParse(state);
    return parsed.success ? new ClaudeStreamDriver(port, parsed.data) : null;
  },
};

class ClaudeStreamDriver implements AgentDriver {
  readonly #port: DriverPort;
  readonly #talk: Conversation<AskedOfPerson>;
  readonly #permissions: PermissionRequests;
  readonly #refusals: Refusals;
  #lastRequest: number;
  readonly #ownRequests: Map<string, OwnRequest>;
  #isInterrupting: boolean;
  #context: z.infer<typeof Tokens>;
  #limitResetsAt: string | null;
  #serviceFault: string | null;
  #costUsd: number;
  #models: State['models'];
  #permissionMode: string | null;

  constructor(port: DriverPort, state: State | null) {
    this.#port = port;
    this.#talk = new Conversation(port, state?.conversation);
    this.#refusals = new Refusals(this.#talk, state?.toldRefusals ?? []);
    this.#permissions = new PermissionRequests(this.#talk, {
      respond: (requestId, response) => this.#respond(requestId, response),
      // The turn's result tells it too, and it is no block of the provider.
      refused: (toolId) => this.#refusals.known(toolId),
    });
    this.#lastRequest = state?.lastRequest ?? 0;
    this.#ownRequests = new Map(state?.ownRequests ?? []);
    this.#isInterrupting = state?.isInterrupting ?? false;
    this.#context = state?.context ?? { used: null, model: null };
    this.#limitResetsAt = state?.limitResetsAt ?? null;
    this.#serviceFault = state?.serviceFault ?? null;
    this.#costUsd = state?.costUsd ?? 0;
    this.#models = state?.models ?? [];
    this.#permissionMode = state?.permissionMode ?? null;
  }

  get isTurnOpen(): boolean {
    return this.#talk.isTurnOpen;
  }

  get takesPrompt(): boolean {
    return this.#talk.takesPrompt;
  }

  get openRequests(): readonly string[] {
    return this.#talk.openRequests;
  }

  /** Where it works and what it resumes was decided by its arguments. */
  open(_opening: DriverOpening): void {
    this.#ask({ kind: 'initialize' }, { subtype: 'initialize' });
  }

  prompt(text: string): boolean {
    if (!this.takesPrompt) return false;
    this.#isInterrupting = false;
    this.#write({ type: 'user', message: { role: 'user', content: text }, parent_tool_use_id: null });
    this.#talk.beginTurn(text);
    return true;
  }

  interrupt(): void {
    if (!this.isTurnOpen || this.#isInterrupting) return;
    this.#isInterrupting = true;
    this.#ask({ kind: 'interrupt' }, { subtype: 'interrupt' });
  }

  choose(choice: string, id: string): boolean {
    if (!this.#talk.isOpen || this.#ownRequests.size >= OWN_REQUESTS_MAX || byteLength(id) > 512)
      return false;
    if (choice === PERMISSION_MODE && PERMISSION_MODES.some((mode) => mode.id === id)) {
      this.#ask({ kind: 'choose', choice, id }, { subtype: 'set_permission_mode', mode: id });
      return true;
    }
    if (choice === MODEL) {
      this.#ask({ kind: 'choose', choice, id }, { subtype: 'set_model', model: id });
      return true;
    }
    return false;
  }

  answer(requestId: string, answer: InteractionAnswer): boolean {
    return this.#permissions.answer(requestId, answer);
  }

  closed(fault: string | null): void {
    this.#talk.ended(fault);
  }

  state(): State {
    return {
      protocol: 'claude-stream-json',
      conversation: this.#talk.state() as State['conversation'],
      lastRequest: this.#lastRequest,
      ownRequests: [...this.#ownRequests],
      isInterrupting: this.#isInterrupting,
      context: this.#context,
      toldRefusals: this.#refusals.state(),
      limitResetsAt: this.#limitResetsAt,
      serviceFault: this.#serviceFault,
      costUsd: this.#costUsd,
      models: this.#models,
      permissionMode: this.#permissionMode,
    };
  }

  receive(line: string): void {
    if (this.#talk.hasEnded) return;
    const value = readObject(line);
    if (value === null || !this.#receive(value)) this.#talk.strangeLine(line);
  }

  /** @returns false when the line is not what its type says. Types that are not known are passed over. */
  #receive(value: JsonObject): boolean {
    switch (value.type) {
      case 'assistant':
        return read(AssistantLine, value, (line) => this.#onAssistant(line));
      case 'user':
        return read(UserLine, value, (line) => this.#onUser(line));
      case 'stream_event':
        return read(StreamEventLine, value, (line) => this.#onStreamEvent(line));
      case 'system':
        if (value.subtype === 'init') return read(InitLine, value, (line) => this.#onInit(line));
        return read(SystemLine, value, (line) => this.#onSystem(line));
      case 'result':
        return read(ResultLine, value, (line) => this.#onResult(line));
      case 'rate_limit_event':
        return read(RateLimitLine, value, (line) => this.#onRateLimit(line));
      case 'control_request':
        return read(ControlRequestLine, value, (line) => this.#onControlRequest(line));
      case 'control_cancel_request':
        return read(ControlCancelLine, value, ({ request_id }) => this.#permissions.withdrawn(request_id));
      case 'control_response':
        return read(ControlResponseLine, value, (line) => this.#onControlResponse(line));
      default:
        return typeof value.type === 'string';
    }
  }

  // The conversation.

  /** Told at the start of every turn, and again with another id when the conversation was cleared. */
  #onInit(line: z.infer<typeof InitLine>): void {
    this.#talk.started({
      providerSessionId: line.session_id,
      model: line.model,
      version: line.claude_code_version,
    });
    this.#setPermissionMode(line.permissionMode);
    this.#tellModels(line.model ?? null);
  }

  #onAssistant({ message, parent_tool_use_id: parent, error }: z.infer<typeof AssistantLine>): void {
    const agentId = this.#speaker(parent);
    if (agentId === null && error !== null) {
      this.#serviceFault = boundText(error, 512);
      // The text of the fault comes again as the result of the turn.
      return;
    }
    for (const block of message.content) {
      if (block.type === 'text') this.#talk.said('message', block.text, false, agentId);
      else if (block.type === 'thinking') this.#talk.said('thinking', block.thinking, false, agentId);
      else if (block.type === 'tool_use') {
        this.#talk.toolStarted({ toolId: block.id, tool: block.name, input: block.input, agentId });
      }
    }
  }

  #onUser({ message, tool_use_result: detail }: z.infer<typeof UserLine>): void {
    for (const block of message.content) {
      if (block.type !== 'tool_result') continue;
      const wasInterrupted = isObject(detail) && detail.interrupted === true;
      const outcome = block.is_error === true ? 'error' : 'ok';
      this.#talk.toolFinished(block.tool_use_id, {
        outcome: wasInterrupted || (outcome === 'error' && this.#isInterrupting) ? 'interrupted' : outcome,
        output: contentText(block.content),
      });
      // A sub-agent in the background outlives the call that started it: its task tells when it ends.
      const staysBehind = isObject(detail) && detail.status === 'async_launched';
      if (!staysBehind) this.#talk.subagentFinished(block.tool_use_id);
    }
  }

  #onStreamEvent({ event, parent_tool_use_id: parent }: z.infer<typeof StreamEventLine>): void {
    const agentId = this.#speaker(parent);
    switch (event.type) {
      case 'content_block_delta':
        if (event.delta?.type === 'text_delta')
          this.#talk.said('message', event.delta.text ?? '', true, agentId);
        else if (event.delta?.type === 'thinking_delta') {
          this.#talk.said('thinking', event.delta.thinking ?? '', true, agentId);
        }
        return;
      case 'message_start':
        if (agentId === null) {
          this.#context = {
            used: usedTokens(event.message?.usage),
            model: event.message?.model?.slice(0, 512) ?? this.#context.model,
          };
        }
        return;
      case 'message_delta':
        if (agentId === null && event.usage !== null) {
          this.#context = { ...this.#context, used: usedTokens(event.usage, this.#context.used) };
        }
        return;
    }
  }

  /** Whoever speaks: null for the agent itself, which may begin to without being asked, when a task of it is done. */
  #speaker(parent: string | null | undefined): string | null {
    const agentId = eventId(parent);
    if (agentId === null) this.#talk.beginTurn(null);
    else this.#talk.subagentStarted(agentId, null);
    return agentId;
  }

  #onResult(line: ResultLine): void {
    // A session that is not there, or arguments that do not go together: it says so and ends.
    if (!this.#talk.isOpen) {
      this.#talk.ended(faultOf(line) ?? 'the agent ended at once');
      return;
    }
    this.#talk.beginTurn(null);
    if (!this.#isInterrupting) this.#refusals.listed(line.permission_denials);
    this.#tellUsage(line);
    tellTurnEnd(this.#talk, line, {
      wasInterrupted: this.#isInterrupting,
      serviceFault: this.#serviceFault,
      resetsAt: this.#limitResetsAt,
    });
    this.#isInterrupting = false;
    this.#refusals.turnEnded();
    this.#serviceFault = null;
  }

  #tellUsage(line: ResultLine): void {
    const cost = line.total_cost_usd;
    const spent = typeof cost === 'number' ? Math.max(0, cost - this.#costUsd) : null;
    if (typeof cost === 'number') this.#costUsd = cost;
    // Nothing was asked of a model.
    if (usedTokens(line.usage) === 0) return;
    const model = this.#context.model ?? this.#talk.session?.model ?? '';
    const windows = Object.entries(line.modelUsage);
    const window = windows.find(([name]) => name === model || name.startsWith(`${model}[`)) ?? windows[0];
    this.#talk.usage('turn', {
      inputTokens: line.usage?.input_tokens,
      outputTokens: line.usage?.output_tokens,
      cacheReadTokens: line.usage?.cache_read_input_tokens,
      cacheWriteTokens: line.usage?.cache_creation_input_tokens,
      contextWindow: window?.[1].contextWindow,
      contextUsed: this.#context.used,
      // Its sum is of all turns of the process.
      costUsd: spent,
    });
  }

  #onSystem(line: z.infer<typeof SystemLine>): void {
    switch (line.subtype) {
      case 'api_retry':
        this.#onRetry(line);
        return;
      case 'permission_denied':
        this.#refusals.denied(line);
        return;
      case 'status':
        this.#setPermissionMode(line.permissionMode);
        return;
      case 'task_started':
        if (line.subagent_type === null && line.task_type !== 'local_agent') return;
        this.#talk.subagentStarted(line.tool_use_id ?? line.task_id ?? '', line.description ?? null);
        return;
      case 'task_notification':
        this.#talk.subagentFinished(line.tool_use_id ?? line.task_id ?? '');
        return;
      case 'compact_boundary':
        this.#talk.notice('info', 'The conversation was compacted.');
        return;
      case 'model_refusal_fallback':
      case 'model_fallback':
      case 'model_refusal_no_fallback':
        this.#talk.notice('warning', line.content ?? 'Another model took over.');
        return;
      default:
        return;
    }
  }

  #onRetry(line: z.infer<typeof SystemLine>): void {
    const code = line.error ?? codeOfStatus(line.error_status);
    const wait = line.retry_delay_ms === null ? '' : ` in ${Math.ceil(line.retry_delay_ms / 1000)} s`;
    const message =
      `The service answered with ${code ?? 'an error'}: trying again${wait}` +
      ` (${line.attempt ?? '?'} of ${line.max_retries ?? '?'}).`;
    if (line.error_status === 429 || line.error === 'rate_limit' || line.error === 'billing_error') {
      // Without the wait: it is no time at which a limit ends.
      this.#talk.quota({ code, message: message.replace(wait, '') }, false, this.#limitResetsAt);
    } else this.#talk.notice('warning', message);
  }

  #onRateLimit({ rate_limit_info: info }: z.infer<typeof RateLimitLine>): void {
    this.#limitResetsAt = resetTimeOfNumber(info.resetsAt, this.#port.now());
    const limit = (info.rateLimitType ?? 'usage').replaceAll('_', ' ');
    if (info.status === 'rejected') {
      const fault = { code: info.rateLimitType ?? 'rate_limit', message: `The ${limit} limit is reached.` };
      this.#talk.quota(fault, false, this.#limitResetsAt);
    } else if (info.status === 'allowed_warning') {
      const used = info.utilization === null ? '' : ` (${Math.round(info.utilization * 100)}% used)`;
      this.#talk.notice('warning', `The ${limit} limit is near${used}.`);
    }
  }

  // Requests of the agent.

  #onControlRequest({ request_id: requestId, request }: z.infer<typeof ControlRequestLine>): void {
    switch (request.subtype) {
      case 'can_use_tool': {
        const ask = CanUseTool.safeParse(request);
        if (ask.success) this.#permissions.received(requestId, ask.data);
        else this.#refuse(requestId, 'the request was not understood');
        return;
      }
      case 'request_user_dialog':
        this.#respond(requestId, { behavior: 'cancelled' });
        return;
      case 'elicitation':
        this.#talk.notice(
          'warning',
          'A question of an MCP server was declined: it can be answered in a terminal only.',
        );
        this.#respond(requestId, { action: 'decline' });
        return;
      default:
        this.#refuse(requestId, `${boundText(request.subtype, 64)} is not supported`);
        return;
    }
  }

  // Our requests.

  #onControlResponse({ response }: z.infer<typeof ControlResponseLine>): void {
    const own = this.#ownRequests.get(response.request_id);
    if (own === undefined) return;
    this.#ownRequests.delete(response.request_id);
    const isDone = response.subtype === 'success';
    switch (own.kind) {
      case 'initialize':
        if (!isDone) {
          this.#talk.ended(response.error ?? 'the agent refused to start');
          return;
        }
        this.#rememberModels(response.response);
        this.#talk.started({ providerSessionId: null, model: null, version: null });
        this.#tellModels(null);
        for (const pending of response.pending_permission_requests) this.#onControlRequest(pending);
        return;
      case 'interrupt':
        if (!isDone) {
          this.#isInterrupting = false;
          this.#talk.notice('warning', response.error ?? 'The turn could not be interrupted.');
        }
        return;
      case 'choose':
        if (!isDone) this.#talk.notice('warning', response.error ?? `${own.id} was not accepted.`);
        else if (own.choice === MODEL) this.#tellModels(own.id);
        else this.#setPermissionMode(own.id);
        return;
    }
  }

  #rememberModels(result: unknown): void {
    const parsed = InitializeResult.safeParse(result);
    if (!parsed.success) return;
    this.#models = parsed.data.models.slice(0, 32).map(({ value, displayName }) => ({
      id: value.slice(0, 128),
      label: (displayName ?? value).slice(0, 128),
    }));
  }

  #tellModels(current: string | null): void {
    if (this.#models.length > 0) this.#talk.choices(MODEL, current, this.#models);
  }

  #setPermissionMode(mode: string | null): void {
    if (mode === null) return;
    this.#permissionMode = mode.slice(0, 128);
    this.#talk.choices(PERMISSION_MODE, this.#permissionMode, PERMISSION_MODES);
  }

  #ask(own: OwnRequest, request: object): void {
    this.#lastRequest += 1;
    // One that is never answered makes room for those that are.
    const [oldest] = this.#ownRequests.keys();
    if (oldest !== undefined && this.#ownRequests.size >= OWN_REQUESTS_MAX) this.#ownRequests.delete(oldest);
    const requestId = `roost-${this.#lastRequest}`;
    this.#ownRequests.set(requestId, own);
    this.#write({ type: 'control_request', request_id: requestId, request });
  }

  #respond(requestId: string, response: object): void {
    this.#write({
      type: 'control_response',
      response: { subtype: 'success', request_id: requestId, response },
    });
  }

  #refuse(requestId: string, error: string): void {
    this.#write({ type: 'control_response', response: { subtype: 'error', request_id: requestId, error } });
  }

  #write(message: object): void {
    this.#port.write(JSON.stringify(message));
  }
}

/** The text of a tool's result: a string, or blocks of which some are text. */
function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((block: unknown) => {
      if (!isObject(block)) return '';
      return typeof block.text === 'string' ? block.text : `[${String(block.type)}]`;
    })
    .join('\n');
}

/** What one call of a model holds of its window. */
function usedTokens(
  usage: z.infer<typeof AssistantLine>['message']['usage'] | undefined,
  before: number | null = null,
): number | null {
  if (usage === null || usage === undefined) return before;
  const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens } = usage;
  if (input_tokens === null) return before;
  return (
    input_tokens + (cache_read_input_tokens ?? 0) + (cache_creation_input_tokens ?? 0) + (output_tokens ?? 0)
  );
}

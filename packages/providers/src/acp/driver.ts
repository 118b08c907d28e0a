/**
 * A client of the Agent Client Protocol, version 1, on standard streams: one process, one session. It offers the agent neither files
 * nor terminals, so what it asks of them is refused. Seen with gemini 0.61.0, qwen 0.15.10, opencode 1.18.33, claude-code-acp 0.16.2 and
 * codex-acp 0.16.0.
 */
import * as z from 'zod';
import {
  DRIVER_CLIENT,
  type AgentDriver,
  type AgentProtocol,
  type DriverOpening,
  type DriverPort,
  type InteractionAnswer,
} from '../agent-driver.ts';
import { boundText, byteLength } from '../agent-text.ts';
import { blockedHostRequest, blockedToolCall, blockedTurn, isQuota, loginRequired } from '../blocked.ts';
import { Conversation, conversationState } from '../conversation.ts';
import { isObject, read } from '../json-object.ts';
import {
  INVALID_PARAMS,
  METHOD_NOT_FOUND,
  RpcCalls,
  rpcCallsState,
  type RpcError,
  type RpcHandler,
  RpcId,
} from '../json-rpc.ts';
import { MODE, MODEL, Offer, Offers } from './offers.ts';
import * as message from './session-messages.ts';
import { faultOf, OPTION_KINDS, outputText, permissionDetail, planStatus } from './in-our-words.ts';
import { tellUsage } from './usage.ts';

const PROTOCOL_VERSION = 1;
const AUTH_REQUIRED = -32000;
/** Our own requests that wait for a response at a time. */
const OWN_REQUESTS_MAX = 16;

const Purpose = z.discriminatedUnion('method', [
  z.object({ method: z.literal('initialize'), directory: z.string(), resume: z.string().nullable() }),
  z.object({ method: z.literal('session/new') }),
  z.object({ method: z.literal('session/load'), sessionId: z.string() }),
  z.object({
    method: z.literal('session/resume'),
    sessionId: z.string(),
    /** Where it works, when loading is tried if there is no such method. */
    loadsIn: z.string().nullable(),
  }),
  z.object({ method: z.literal('session/prompt') }),
  z.object({ method: z.literal('session/set_mode'), id: z.string() }),
  z.object({ method: z.literal('session/set_model'), id: z.string() }),
  z.object({ method: z.literal('session/set_config_option'), choice: z.string(), id: z.string() }),
]);
type Purpose = z.infer<typeof Purpose>;

const Kept = z.object({
  rpcId: RpcId,
  options: z.array(z.object({ optionId: z.string(), kind: z.string() })),
});
type Kept = z.infer<typeof Kept>;

const State = z.object({
  protocol: z.literal('acp'),
  conversation: conversationState(Kept),
  calls: rpcCallsState(Purpose),
  version: z.string().nullable(),
  sessionId: z.string().nullable(),
  /** Names of the ways to sign in, as it told them. */
  logins: z.array(z.string()),
  isLoading: z.boolean(),
  isCancelling: z.boolean(),
  offers: z.array(Offer),
});
type State = z.infer<typeof State>;

export const acp: AgentProtocol = {
  id: 'acp',
  create: (port) => new AcpDriver(port, null),
  restore: (port, state) => {
    const parsed = State.safeParse(state);
    return parsed.success ? new AcpDriver(port, parsed.data) : null;
  },
};

class AcpDriver implements AgentDriver {
  readonly #talk: Conversation<Kept>;
  readonly #calls: RpcCalls<Purpose>;
  readonly #handler: RpcHandler<Purpose> = {
    notification: (method, params) =>
      method !== 'session/update' ||
      read(message.UpdateParams, params, ({ update }) => this.#onUpdate(update)),
    request: (id, method, params) => this.#onRequest(id, method, params),
    result: (purpose, result) => this.#onResult(purpose, result),
    error: (purpose, error) => this.#onError(purpose, error),
  };
  #version: string | null;
  #sessionId: string | null;
  #logins: string[];
  #isLoading: boolean;
  #isCancelling: boolean;
  readonly #offers: Offers;

  constructor(port: DriverPort, state: State | null) {
    this.#talk = new Conversation(port, state?.conversation);
    this.#calls = new RpcCalls((line) => port.write(line), state?.calls);
    this.#version = state?.version ?? null;
    this.#sessionId = state?.sessionId ?? null;
    this.#logins = state?.logins ?? [];
    this.#isLoading = state?.isLoading ?? false;
    this.#isCancelling = state?.isCancelling ?? false;
    this.#offers = new Offers(this.#talk, state?.offers ?? []);
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

  open({ directory, resume }: DriverOpening): void {
    this.#calls.request(
      { method: 'initialize', directory, resume },
      {
        protocolVersion: PROTOCOL_VERSION,
        clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
        clientInfo: DRIVER_CLIENT,
      },
    );
  }

  prompt(text: string): boolean {
    if (!this.takesPrompt) return false;
    this.#isCancelling = false;
    this.#talk.beginTurn(text);
    this.#calls.request(
      { method: 'session/prompt' },
      { sessionId: this.#sessionId, prompt: [{ type: 'text', text }] },
    );
    return true;
  }

  /** What the turn still asks is answered with its being cancelled, as the protocol wants it. */
  interrupt(): void {
    if (!this.isTurnOpen || this.#isCancelling) return;
    this.#isCancelling = true;
    this.#calls.notify('session/cancel', { sessionId: this.#sessionId });
    for (const { id, kept } of this.#talk.requests) {
      this.#calls.respond(kept.rpcId, CANCELLED);
      this.#talk.settled(id, 'withdrawn');
    }
  }

  answer(requestId: string, answer: InteractionAnswer): boolean {
    const kept = this.#talk.request(requestId)?.kept;
    if (kept === undefined || answer.kind === 'text') return false;
    const chosen =
      answer.kind === 'refuse'
        ? kept.options.find(({ kind }) => kind === 'reject_once')
        : kept.options.find(({ optionId }) => optionId === answer.optionId);
    if (chosen === undefined && answer.kind === 'option') return false;
    this.#calls.respond(
      kept.rpcId,
      chosen === undefined ? CANCELLED : { outcome: { outcome: 'selected', optionId: chosen.optionId } },
    );
    const isRefusal = chosen?.kind.startsWith('reject') ?? true;
    this.#talk.settled(requestId, isRefusal ? 'refused' : 'approved');
    return true;
  }

  choose(choice: string, id: string): boolean {
    const offer = this.#offers.find(choice, id);
    if (!this.#talk.isOpen || offer === null) return false;
    if (this.#calls.pending >= OWN_REQUESTS_MAX) return false;
    const sessionId = this.#sessionId;
    switch (offer.how) {
      case 'set_mode':
        this.#calls.request({ method: 'session/set_mode', id }, { sessionId, modeId: id });
        return true;
      case 'set_model':
        this.#calls.request({ method: 'session/set_model', id }, { sessionId, modelId: id });
        return true;
      case 'set_config_option':
        this.#calls.request(
          { method: 'session/set_config_option', choice, id },
          { sessionId, configId: choice, value: id },
        );
        return true;
    }
  }

  closed(fault: string | null): void {
    this.#talk.ended(fault);
  }

  state(): State {
    return {
      protocol: 'acp',
      conversation: this.#talk.state() as State['conversation'],
      calls: this.#calls.state(),
      version: this.#version,
      sessionId: this.#sessionId,
      logins: this.#logins,
      isLoading: this.#isLoading,
      isCancelling: this.#isCancelling,
      offers: this.#offers.state(),
    };
  }

  receive(line: string): void {
    if (this.#talk.hasEnded) return;
    if (!this.#calls.receive(line, this.#handler)) this.#talk.strangeLine(line);
  }

  // Responses to our requests.

  #onResult(purpose: Purpose, result: unknown): void {
    switch (purpose.method) {
      case 'initialize':
        this.#onInitialized(purpose, result);
        return;
      case 'session/new':
        this.#onSession(result, null);
        return;
      case 'session/load':
      case 'session/resume':
        this.#onSession(result, purpose.sessionId);
        return;
      case 'session/prompt':
        this.#onPromptResult(result);
        return;
      case 'session/set_mode':
        this.#offers.chosen(MODE, purpose.id);
        return;
      case 'session/set_model':
        this.#offers.chosen(MODEL, purpose.id);
        return;
      case 'session/set_config_option': {
        const { data } = message.SetConfigResult.safeParse(result);
        if (data === undefined || data.configOptions.length === 0)
          this.#offers.chosen(purpose.choice, purpose.id);
        else this.#offers.options(data.configOptions);
        return;
      }
    }
  }

  #onInitialized({ directory, resume }: Extract<Purpose, { method: 'initialize' }>, result: unknown): void {
    const { data } = message.InitializeResult.safeParse(result);
    if (data?.protocolVersion !== PROTOCOL_VERSION) {
      this.#talk.ended(`the agent speaks another version of ACP than ${PROTOCOL_VERSION}`);
      return;
    }
    this.#version = data.agentInfo?.version?.slice(0, 128) ?? null;
    this.#logins = data.authMethods.slice(0, 8).map(({ id, name }) => boundText(name ?? id, 128));
    const abilities = data.agentCapabilities;
    const loads = abilities?.loadSession === true;
    if (resume === null) this.#calls.request({ method: 'session/new' }, sessionIn(directory));
    // Without telling again what was said, where it can.
    else if (isObject(abilities?.sessionCapabilities?.resume)) {
      const loadsIn = loads ? directory : null;
      this.#openEarlier({ method: 'session/resume', sessionId: resume, loadsIn }, directory);
    } else if (loads) this.#openEarlier({ method: 'session/load', sessionId: resume }, directory);
    else this.#talk.ended('the agent cannot go on with an earlier session');
  }

  #openEarlier(
    purpose: Extract<Purpose, { method: 'session/load' | 'session/resume' }>,
    directory: string,
  ): void {
    const { sessionId } = purpose;
    this.#isLoading = true;
    this.#sessionId = sessionId;
    this.#calls.request(purpose, { sessionId, ...sessionIn(directory) });
  }

  #onSession(result: unknown, resumed: string | null): void {
    const { data } = message.SessionResult.safeParse(result ?? {});
    const sessionId = data?.sessionId ?? resumed;
    if (sessionId === null || byteLength(sessionId) > 512) {
      this.#talk.ended('the agent named no session');
      return;
    }
    this.#isLoading = false;
    this.#sessionId = sessionId;
    const model = data?.models?.currentModelId ?? null;
    this.#talk.started({ providerSessionId: sessionId, model, version: this.#version });
    if (data !== undefined) this.#offers.opened(data);
  }

  #onPromptResult(result: unknown): void {
    const { data } = message.PromptResult.safeParse(result);
    const stopReason = data?.stopReason ?? null;
    tellUsage(this.#talk, data?.usage ?? null, data?._meta ?? null);
    switch (stopReason) {
      case 'cancelled':
        this.#endTurn('interrupted', { stopReason });
        return;
      case 'refusal':
        this.#talk.blocked(blockedTurn('refusal', 'the provider ended the turn with stopReason: refusal'));
        this.#endTurn('refused', { stopReason });
        return;
      case 'max_tokens':
      case 'max_turn_requests':
        this.#endTurn('limit', { stopReason });
        return;
      default:
        // Some end a turn that was cancelled as any other.
        this.#endTurn(this.#isCancelling ? 'interrupted' : 'completed', { stopReason });
    }
  }

  #endTurn(
    outcome: Parameters<Conversation<Kept>['endTurn']>[0],
    ending: Parameters<Conversation<Kept>['endTurn']>[1],
  ): void {
    this.#talk.endTurn(outcome, ending);
    this.#isCancelling = false;
  }

  #onError(purpose: Purpose, error: RpcError): void {
    const fault = faultOf(error);
    const needsLogin = error.code === AUTH_REQUIRED;
    if (needsLogin) {
      const help = this.#logins.length === 0 ? null : `Sign in with: ${this.#logins.join(', ')}.`;
      this.#talk.blocked(loginRequired(fault.message, help));
    }
    switch (purpose.method) {
      case 'initialize':
      case 'session/new':
      case 'session/load':
        this.#talk.ended(fault.message);
        return;
      case 'session/resume': {
        const { sessionId, loadsIn } = purpose;
        // Qwen Code 0.15.10 says that it can, and has no such method.
        if (error.code === METHOD_NOT_FOUND && loadsIn !== null)
          this.#openEarlier({ method: 'session/load', sessionId }, loadsIn);
        else this.#talk.ended(fault.message);
        return;
      }
      case 'session/prompt':
        if (this.#isCancelling) this.#endTurn('interrupted', { stopReason: fault.code });
        else if (!needsLogin && isQuota(fault)) {
          this.#talk.quota(fault, true);
          this.#endTurn('limit', { stopReason: fault.code, fault: fault.message });
        } else this.#endTurn('failed', { stopReason: fault.code, fault: fault.message });
        return;
      case 'session/set_mode':
      case 'session/set_model':
      case 'session/set_config_option':
        this.#talk.notice('warning', `${purpose.id} was not accepted: ${fault.message}`);
        return;
    }
  }

  // Updates. While a session is loaded they are its history, and nothing new.

  #onUpdate(update: z.infer<typeof message.UpdateParams>['update']): void {
    switch (update.sessionUpdate) {
      case 'current_mode_update':
        read(message.CurrentMode, update, ({ currentModeId }) => this.#offers.chosen(MODE, currentModeId));
        return;
      case 'config_option_update':
        read(message.ConfigUpdate, update, ({ configOptions }) => this.#offers.options(configOptions));
        return;
      case 'available_commands_update':
        read(message.Commands, update, ({ availableCommands }) => {
          const listed = availableCommands.map(({ name, description }) => ({
            id: name,
            label: description ?? name,
          }));
          this.#talk.choices('command', null, listed);
        });
        return;
    }
    if (this.#isLoading) return;
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        read(message.Chunk, update, ({ content }) =>
          this.#talk.said('message', content.text ?? `[${content.type}]`, true),
        );
        tellUsage(this.#talk, null, isObject(update._meta) ? update._meta : null);
        return;
      case 'agent_thought_chunk':
        read(message.Chunk, update, ({ content }) => this.#talk.said('thinking', content.text ?? '', true));
        return;
      case 'tool_call':
      case 'tool_call_update':
        read(message.ToolCall, update, (call) =>
          this.#onToolCall(call, update.sessionUpdate === 'tool_call'),
        );
        return;
      case 'plan':
        read(message.Plan, update, ({ entries }) =>
          this.#talk.plan(
            entries.map(({ content, status }) => ({ text: content, status: planStatus(status) })),
          ),
        );
        return;
      case 'usage_update':
        read(message.UsageUpdate, update, ({ used, size, cost }) =>
          this.#talk.usage('thread', {
            contextUsed: used,
            contextWindow: size,
            costUsd: cost?.currency === 'USD' ? cost.amount : null,
          }),
        );
        return;
    }
  }

  /** Told piece by piece: the start may lack the input, and only a last status ends it. */
  #onToolCall(call: message.ToolCall, isNew: boolean): void {
    const { toolCallId: toolId, title, status } = call;
    const isOver = status === 'completed' || status === 'failed';
    if (isNew) this.#startTool(call);
    if (!isOver || !this.#talk.isToolOpen(toolId)) return;
    const output = call.content?.join('\n') ?? outputText(call.rawOutput);
    const kind = typeof call._meta?.nonExecutionKind === 'string' ? call._meta.nonExecutionKind : null;
    const block = blockedToolCall({
      nonExecutionKind: kind,
      toolId,
      tool: this.#talk.toolName(toolId) ?? title,
      output,
    });
    if (block !== null) this.#talk.blocked(block);
    const wasCut = kind === 'interrupted' || kind === 'cancelled' || this.#isCancelling;
    const failed = wasCut ? 'interrupted' : 'error';
    this.#talk.toolFinished(toolId, { outcome: status === 'completed' ? 'ok' : failed, output });
  }

  #startTool({ toolCallId: toolId, title, kind, rawInput }: message.ToolCall): void {
    this.#talk.toolStarted({ toolId, tool: kind ?? 'tool', title, input: rawInput ?? {} });
  }

  // Requests of the agent.

  #onRequest(id: RpcId, method: string, params: unknown): void {
    if (method === 'session/request_permission') {
      if (!read(message.PermissionParams, params, (ask) => this.#onPermission(id, ask))) {
        this.#calls.fail(id, INVALID_PARAMS, 'Invalid params');
      }
      return;
    }
    if (method.startsWith('fs/') || method.startsWith('terminal/')) {
      this.#talk.blocked(blockedHostRequest(boundText(method, 64), 'host-policy', null));
    }
    this.#calls.fail(id, METHOD_NOT_FOUND, `Method not found: ${boundText(method, 64)}`);
  }

  #onPermission(rpcId: RpcId, { toolCall, options }: z.infer<typeof message.PermissionParams>): void {
    const requestId = String(rpcId);
    if (this.#talk.request(requestId) !== null) return;
    // Some ask before they tell of the tool.
    this.#startTool(toolCall);
    const isKept =
      !this.#isCancelling &&
      this.#talk.asked({
        requestId,
        interaction: 'approval',
        tool: this.#talk.toolName(toolCall.toolCallId),
        toolId: toolCall.toolCallId,
        title: toolCall.title ?? 'May it go on?',
        detail: permissionDetail(toolCall),
        options: options.map(({ optionId, name, kind }) => ({
          optionId,
          label: boundText(name ?? optionId, 512),
          kind: OPTION_KINDS[kind ?? ''] ?? 'other',
        })),
        kept: {
          rpcId,
          options: options.map(({ optionId, kind }) => ({ optionId, kind: boundText(kind ?? '', 32) })),
        },
      });
    if (!isKept) this.#calls.respond(rpcId, CANCELLED);
  }
}

const CANCELLED = { outcome: { outcome: 'cancelled' } };

const sessionIn = (directory: string) => ({ cwd: directory, mcpServers: [] });

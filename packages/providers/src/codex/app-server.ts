/**
 * Codex as a server on standard streams, `codex app-server`: JSON-RPC, one thread of it is ours. Seen with 0.171.0. Sub-agents are
 * threads too, and their notifications come on the same stream: by another thread id.
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
import { blockedEvent, isQuota, type ProviderFault } from '../blocked.ts';
import { Conversation, conversationState } from '../conversation.ts';
import { read } from '../json-object.ts';
import {
  INVALID_PARAMS,
  METHOD_NOT_FOUND,
  RpcCalls,
  rpcCallsState,
  type RpcError,
  type RpcHandler,
  type RpcId,
} from '../json-rpc.ts';
import { resetTimeOfNumber } from '../reset-time.ts';
import * as message from './app-server-messages.ts';
import { APPROVAL_METHODS, Approvals, AskedOfPerson } from './approvals.ts';
import { toolOf } from './tool-items.ts';
import { faultOf, tellTurnEnd, turnErrorOf } from './turn-end.ts';

const MODEL = 'model';

const Purpose = z.discriminatedUnion('method', [
  z.object({ method: z.literal('initialize'), directory: z.string(), resume: z.string().nullable() }),
  z.object({ method: z.literal('thread/start') }),
  z.object({ method: z.literal('thread/resume') }),
  z.object({ method: z.literal('model/list') }),
  z.object({ method: z.literal('turn/start') }),
  z.object({ method: z.literal('turn/interrupt') }),
]);
type Purpose = z.infer<typeof Purpose>;

const Fault = z.object({ code: z.string().nullable(), message: z.string() });

const State = z.object({
  protocol: z.literal('codex-app-server'),
  conversation: conversationState(AskedOfPerson),
  calls: rpcCallsState(Purpose),
  version: z.string().nullable(),
  threadId: z.string().nullable(),
  turnId: z.string().nullable(),
  interrupt: z.enum(['no', 'wanted', 'sent']),
  /** Of the turn: an error that was not tried again. */
  fault: Fault.nullable(),
  limitResetsAt: z.string().nullable(),
  models: z.array(z.object({ id: z.string(), label: z.string() })),
  /** Chosen, and said with the next turn. */
  model: z.string().nullable(),
});
type State = z.infer<typeof State>;

export const codexAppServer: AgentProtocol = {
  id: 'codex-app-server',
  create: (port) => new CodexAppServerDriver(port, null),
  restore: (port, state) => {
    const parsed = State.safeParse(state);
    return parsed.success ? new CodexAppServerDriver(port, parsed.data) : null;
  },
};

class CodexAppServerDriver implements AgentDriver {
  readonly #port: DriverPort;
  readonly #talk: Conversation<AskedOfPerson>;
  readonly #calls: RpcCalls<Purpose>;
  readonly #approvals: Approvals;
  readonly #handler: RpcHandler<Purpose> = {
    notification: (method, params) => this.#onNotification(method, params),
    request: (id, method, params) => this.#onRequest(id, method, params),
    result: (purpose, result) => this.#onResult(purpose, result),
    error: (purpose, error) => this.#onError(purpose, error),
  };
  #version: string | null;
  #threadId: string | null;
  #turnId: string | null;
  #interrupt: State['interrupt'];
  #fault: ProviderFault | null;
  #limitResetsAt: string | null;
  #models: State['models'];
  #model: string | null;

  constructor(port: DriverPort, state: State | null) {
    this.#port = port;
    this.#talk = new Conversation(port, state?.conversation);
    this.#calls = new RpcCalls((line) => port.write(line), state?.calls);
    this.#approvals = new Approvals(this.#talk, (id, result) => this.#calls.respond(id, result));
    this.#version = state?.version ?? null;
    this.#threadId = state?.threadId ?? null;
    this.#turnId = state?.turnId ?? null;
    this.#interrupt = state?.interrupt ?? 'no';
    this.#fault = state?.fault ?? null;
    this.#limitResetsAt = state?.limitResetsAt ?? null;
    this.#models = state?.models ?? [];
    this.#model = state?.model ?? null;
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
    const capabilities = { experimentalApi: false, requestAttestation: false };
    this.#calls.request(
      { method: 'initialize', directory, resume },
      { clientInfo: DRIVER_CLIENT, capabilities },
    );
  }

  prompt(text: string): boolean {
    if (!this.takesPrompt) return false;
    this.#beginTurn(text);
    this.#calls.request(
      { method: 'turn/start' },
      {
        threadId: this.#threadId,
        input: [{ type: 'text', text, text_elements: [] }],
        ...(this.#model === null ? {} : { model: this.#model }),
      },
    );
    return true;
  }

  interrupt(): void {
    if (!this.isTurnOpen || this.#interrupt !== 'no') return;
    this.#interrupt = 'wanted';
    this.#sendInterrupt();
  }

  answer(requestId: string, answer: InteractionAnswer): boolean {
    return this.#approvals.answer(requestId, answer);
  }

  /** A model is said with the next turn, and holds from there on. */
  choose(choice: string, id: string): boolean {
    if (!this.#talk.isOpen || choice !== MODEL || byteLength(id) > 512 || id === '') return false;
    this.#model = id;
    this.#talk.choices(MODEL, id, this.#models);
    return true;
  }

  closed(fault: string | null): void {
    this.#talk.ended(fault);
  }

  state(): State {
    return {
      protocol: 'codex-app-server',
      conversation: this.#talk.state() as State['conversation'],
      calls: this.#calls.state(),
      version: this.#version,
      threadId: this.#threadId,
      turnId: this.#turnId,
      interrupt: this.#interrupt,
      fault: this.#fault,
      limitResetsAt: this.#limitResetsAt,
      models: this.#models,
      model: this.#model,
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
        this.#version = versionOf(message.InitializeResult.safeParse(result).data?.userAgent ?? null);
        this.#calls.notify('initialized');
        if (purpose.resume === null) {
          this.#calls.request({ method: 'thread/start' }, { cwd: purpose.directory });
        } else {
          const params = { threadId: purpose.resume, cwd: purpose.directory, excludeTurns: true };
          this.#calls.request({ method: 'thread/resume' }, params);
        }
        return;
      case 'thread/start':
      case 'thread/resume': {
        const opened = message.ThreadResult.safeParse(result);
        if (!opened.success) {
          this.#talk.ended('the agent named no thread');
          return;
        }
        const { thread, model } = opened.data;
        this.#threadId = thread.id;
        this.#talk.started({ providerSessionId: thread.id, model, version: this.#version });
        this.#calls.request({ method: 'model/list' }, { limit: 32 });
        return;
      }
      case 'model/list': {
        const { data } = message.ModelListResult.safeParse(result);
        this.#models = (data?.data ?? []).slice(0, 32).map(({ model, displayName }) => ({
          id: model.slice(0, 128),
          label: (displayName ?? model).slice(0, 128),
        }));
        if (this.#models.length > 0) {
          this.#talk.choices(MODEL, this.#model ?? this.#talk.session?.model ?? null, this.#models);
        }
        return;
      }
      case 'turn/start': {
        const { data } = message.TurnResult.safeParse(result);
        if (data !== undefined && this.isTurnOpen) this.#knowTurn(data.turn.id);
        return;
      }
      case 'turn/interrupt':
        return;
    }
  }

  #onError({ method }: Purpose, error: RpcError): void {
    switch (method) {
      case 'initialize':
      case 'thread/start':
      case 'thread/resume':
        this.#talk.ended(error.message === '' ? `${method} failed` : error.message);
        return;
      case 'turn/start':
        this.#endTurn('failed', turnErrorOf(error));
        return;
      case 'turn/interrupt':
        // The turn may be over already; then its end is on the way.
        this.#interrupt = 'no';
        return;
      case 'model/list':
        return;
    }
  }

  // Turns.

  #beginTurn(prompt: string | null): void {
    this.#turnId = null;
    this.#interrupt = 'no';
    this.#fault = null;
    this.#talk.beginTurn(prompt);
  }

  #knowTurn(turnId: string): void {
    this.#turnId = boundText(turnId, 512);
    this.#sendInterrupt();
  }

  #sendInterrupt(): void {
    if (this.#interrupt !== 'wanted' || this.#turnId === null) return;
    this.#interrupt = 'sent';
    this.#calls.request({ method: 'turn/interrupt' }, { threadId: this.#threadId, turnId: this.#turnId });
  }

  #endTurn(status: string | null, error: message.TurnError | null): void {
    const fault = error === null ? this.#fault : faultOf(error);
    tellTurnEnd(this.#talk, { status, fault, resetsAt: this.#limitResetsAt });
    this.#turnId = null;
    this.#interrupt = 'no';
    this.#fault = null;
  }

  // Notifications. @returns false when one is not what its method says; methods that are not known are passed over.

  #onNotification(method: string, params: unknown): boolean {
    switch (method) {
      case 'turn/started':
        return read(message.TurnNotification, params, ({ threadId, turn }) => {
          if (threadId !== this.#threadId) return;
          if (!this.isTurnOpen) this.#beginTurn(null);
          this.#knowTurn(turn.id);
        });
      case 'turn/completed':
        return read(message.TurnNotification, params, ({ threadId, turn }) => {
          if (threadId !== this.#threadId) this.#talk.subagentFinished(threadId);
          else if (this.#turnId === null || this.#turnId === turn.id) this.#endTurn(turn.status, turn.error);
        });
      case 'item/agentMessage/delta':
        return read(message.DeltaNotification, params, ({ threadId, delta }) =>
          this.#talk.said('message', delta, true, this.#agentOf(threadId)),
        );
      case 'item/reasoning/textDelta':
      case 'item/reasoning/summaryTextDelta':
        return read(message.DeltaNotification, params, ({ threadId, delta }) =>
          this.#talk.said('thinking', delta, true, this.#agentOf(threadId)),
        );
      case 'item/started':
        return read(message.ItemNotification, params, ({ threadId, item }) =>
          this.#onItem(item, this.#agentOf(threadId), false),
        );
      case 'item/completed':
        return read(message.ItemNotification, params, ({ threadId, item }) =>
          this.#onItem(item, this.#agentOf(threadId), true),
        );
      case 'turn/plan/updated':
        return read(message.PlanNotification, params, ({ plan }) =>
          this.#talk.plan(plan.map(({ step, status }) => ({ text: step, status: planStatus(status) }))),
        );
      case 'thread/tokenUsage/updated':
        return read(message.UsageNotification, params, (usage) => this.#onUsage(usage));
      case 'account/rateLimits/updated':
        return read(message.RateLimitsNotification, params, ({ rateLimits: { primary, secondary } }) => {
          const spent = [primary, secondary].find((one) => (one?.usedPercent ?? 0) >= 100);
          this.#limitResetsAt = resetTimeOfNumber(spent?.resetsAt, this.#port.now());
        });
      case 'error':
        return read(message.ErrorNotification, params, (error) => this.#onErrorNotification(error));
      case 'serverRequest/resolved':
        return read(message.ResolvedNotification, params, ({ requestId }) =>
          this.#approvals.withdrawn(requestId),
        );
      case 'item/autoApprovalReview/completed':
        return read(message.ReviewNotification, params, ({ review, action, targetItemId }) => {
          if (review.status !== 'denied') return;
          const tool = (targetItemId === null ? null : this.#talk.toolName(targetItemId)) ?? action.type;
          const refusal = { tool, toolId: targetItemId, reason: review.rationale, reasonKind: 'auto-review' };
          this.#talk.blocked(blockedEvent({ authority: 'provider-classifier', ...refusal }));
        });
      case 'warning':
      case 'configWarning':
      case 'guardianWarning':
      case 'deprecationNotice':
        return read(message.WarningNotification, params, (warning) =>
          this.#talk.notice('warning', warning.message ?? warning.summary ?? warning.details ?? ''),
        );
      case 'model/rerouted':
        return read(message.ModelReroutedNotification, params, ({ fromModel, toModel }) =>
          this.#talk.notice('warning', `${toModel} took over from ${fromModel}.`),
        );
      default:
        return true;
    }
  }

  #agentOf(threadId: string): string | null {
    if (threadId === this.#threadId) return null;
    this.#talk.subagentStarted(threadId, null);
    return threadId;
  }

  #onUsage({
    threadId,
    tokenUsage: { total, last, modelContextWindow },
  }: z.infer<typeof message.UsageNotification>): void {
    if (threadId !== this.#threadId) return;
    this.#talk.usage('thread', {
      // Its count holds what came from the cache.
      inputTokens: total.inputTokens === null ? null : total.inputTokens - (total.cachedInputTokens ?? 0),
      cacheReadTokens: total.cachedInputTokens,
      cacheWriteTokens: total.cacheWriteInputTokens,
      outputTokens: total.outputTokens,
      reasoningTokens: total.reasoningOutputTokens,
      contextWindow: modelContextWindow,
      contextUsed: last.totalTokens,
    });
  }

  #onErrorNotification({ threadId, error, willRetry }: z.infer<typeof message.ErrorNotification>): void {
    const fault = faultOf(error);
    if (willRetry) {
      if (isQuota(fault)) this.#talk.quota(fault, false, this.#limitResetsAt);
      else this.#talk.notice('warning', fault.message);
    } else if (threadId === this.#threadId && this.isTurnOpen) this.#fault = fault;
    else this.#talk.notice('error', fault.message);
  }

  #onItem(
    item: z.infer<typeof message.ItemNotification>['item'],
    agentId: string | null,
    isDone: boolean,
  ): void {
    switch (item.type) {
      case 'agentMessage':
        if (isDone)
          read(message.MessageItem, item, ({ text }) => this.#talk.said('message', text, false, agentId));
        return;
      case 'reasoning':
        if (!isDone) return;
        read(message.ReasoningItem, item, ({ summary, content }) => {
          const told = summary.length > 0 ? summary : content;
          this.#talk.said('thinking', told.join('\n\n'), false, agentId);
        });
        return;
      case 'collabAgentToolCall':
        read(message.CollabItem, item, ({ tool, receiverThreadIds, prompt }) => {
          if (tool === 'spawnAgent')
            for (const id of receiverThreadIds) this.#talk.subagentStarted(id, prompt);
        });
        break;
      case 'subAgentActivity':
        read(message.SubagentItem, item, ({ kind, agentThreadId, agentPath }) => {
          if (kind === 'started') this.#talk.subagentStarted(agentThreadId, agentPath);
          else if (kind === 'completed' || kind === 'interrupted') this.#talk.subagentFinished(agentThreadId);
        });
        return;
      case 'contextCompaction':
        if (isDone) this.#talk.notice('info', 'The conversation was compacted.');
        return;
    }
    const call = toolOf(item);
    if (call === null) return;
    this.#talk.toolStarted({ toolId: item.id, tool: call.tool, input: call.input, agentId });
    if (!isDone) return;
    const wasInterrupted = call.result.outcome === 'error' && this.#interrupt !== 'no';
    this.#talk.toolFinished(
      item.id,
      wasInterrupted ? { ...call.result, outcome: 'interrupted' } : call.result,
    );
  }

  // Requests of the agent.

  #onRequest(id: RpcId, method: string, params: unknown): void {
    if (!APPROVAL_METHODS.includes(method)) {
      this.#calls.fail(id, METHOD_NOT_FOUND, `Method not found: ${boundText(method, 64)}`);
    } else if (!this.#approvals.received(id, method, params, (threadId) => this.#agentOf(threadId))) {
      this.#calls.fail(id, INVALID_PARAMS, 'Invalid params');
    }
  }
}

/** `roost/0.171.0 (Linux ...)` */
const versionOf = (userAgent: string | null): string | null =>
  /\/(\d+\.\d+\.\d+[\w.-]*)/.exec(userAgent ?? '')?.[1] ?? null;

function planStatus(status: string | null): 'pending' | 'in-progress' | 'completed' {
  if (status === 'completed') return 'completed';
  return status === 'inProgress' ? 'in-progress' : 'pending';
}

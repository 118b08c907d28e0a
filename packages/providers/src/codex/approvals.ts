/** What Codex asks a person, each with the response that every answer means. */
import type { InteractionOption } from '@roost/protocol';
import * as z from 'zod';
import type { InteractionAnswer } from '../agent-driver.ts';
import { boundText } from '../agent-text.ts';
import type { Asked, Conversation } from '../conversation.ts';
import { read } from '../json-object.ts';
import { RpcId } from '../json-rpc.ts';
import { answerTo, type Question, questionDetail, questionId, questionOptions } from '../question-list.ts';
import {
  AskedQuestions,
  CommandApproval,
  Elicitation,
  FileChangeApproval,
  PermissionsApproval,
} from './app-server-messages.ts';

const Response = z.object({
  optionId: z.string(),
  outcome: z.enum(['approved', 'refused']),
  result: z.unknown(),
});

/** What is kept to answer a request. */
export const AskedOfPerson = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('approval'),
    rpcId: RpcId,
    responses: z.array(Response),
    refusal: z.unknown(),
  }),
  z.object({
    kind: z.literal('questions'),
    rpcId: RpcId,
    requestId: z.string(),
    questions: AskedQuestions.shape.questions,
    answers: z.array(z.string()),
  }),
]);
export type AskedOfPerson = z.infer<typeof AskedOfPerson>;
type Questions = Extract<AskedOfPerson, { kind: 'questions' }>;

interface Choice {
  readonly option: InteractionOption;
  readonly outcome: 'approved' | 'refused';
  readonly result: unknown;
}

/** Methods of requests that can be put to a person. */
export const APPROVAL_METHODS: readonly string[] = [
  'item/commandExecution/requestApproval',
  'item/fileChange/requestApproval',
  'item/permissions/requestApproval',
  'item/tool/requestUserInput',
  'mcpServer/elicitation/request',
];

export class Approvals {
  readonly #talk: Conversation<AskedOfPerson>;
  readonly #respond: (id: RpcId, result: unknown) => void;

  constructor(talk: Conversation<AskedOfPerson>, respond: (id: RpcId, result: unknown) => void) {
    this.#talk = talk;
    this.#respond = respond;
  }

  /** `agentOf`: the sub-agent of a thread, null for the agent itself. @returns false when it is not what its method says. */
  received(
    rpcId: RpcId,
    method: string,
    params: unknown,
    agentOf: (threadId: string) => string | null,
  ): boolean {
    const requestId = String(rpcId);
    if (this.#talk.request(requestId) !== null) return true;
    switch (method) {
      case 'item/commandExecution/requestApproval':
        return read(CommandApproval, params, (ask) => {
          this.#ask(rpcId, commandChoices(ask), {
            tool: 'Bash',
            toolId: ask.itemId,
            title: ask.reason ?? 'Run a command',
            detail: ask.command ?? ask.reason ?? '',
            agentId: agentOf(ask.threadId),
          });
        });
      case 'item/fileChange/requestApproval':
        return read(FileChangeApproval, params, (ask) => {
          const root = ask.grantRoot;
          this.#ask(rpcId, decisions(), {
            tool: 'apply_patch',
            toolId: ask.itemId,
            title: ask.reason ?? 'Change files',
            detail: root === null ? '' : `and from now on anything under ${root}`,
            agentId: agentOf(ask.threadId),
          });
        });
      case 'item/permissions/requestApproval':
        return read(PermissionsApproval, params, (ask) => {
          const { permissions } = ask;
          const grant = (scope: 'turn' | 'session') => ({ permissions, scope });
          const choices = [
            allow('grant', 'Allow for this turn', 'allow-once', grant('turn')),
            allow('grant-session', 'Allow for this session', 'allow-always', grant('session')),
            reject('refuse', 'Refuse', { permissions: {}, scope: 'turn' }),
          ];
          this.#ask(rpcId, choices, {
            tool: 'request_permissions',
            toolId: ask.itemId,
            title: ask.reason ?? 'Give permissions',
            detail: JSON.stringify(permissions, null, 2),
            agentId: agentOf(ask.threadId),
          });
        });
      case 'item/tool/requestUserInput':
        return read(AskedQuestions, params, ({ questions, itemId }) => {
          const kept: Questions = { kind: 'questions', rpcId, requestId, questions, answers: [] };
          if (!this.#askNext(kept, itemId)) this.#tooMuch(rpcId, { answers: {} });
        });
      case 'mcpServer/elicitation/request':
        return read(Elicitation, params, (ask) => {
          // A form cannot be filled in here; one that needs nothing is a yes or no, as for the tools of an MCP server.
          const isYesOrNo = ask.requestedSchema !== null && ask.requestedSchema.required.length === 0;
          const reply = (action: string) => ({
            action,
            content: action === 'accept' ? {} : null,
            _meta: null,
          });
          const choices = [
            ...(isYesOrNo ? [allow('accept', 'Accept', 'allow-once', reply('accept'))] : []),
            reject('decline', 'Decline', reply('decline')),
          ];
          this.#ask(rpcId, choices, {
            tool: `mcp__${ask.serverName}`,
            toolId: null,
            title: ask.message,
            detail: ask.url ?? ask.message,
            agentId: agentOf(ask.threadId),
          });
        });
      default:
        return false;
    }
  }

  /** Settled elsewhere, or over. */
  withdrawn(rpcId: RpcId): void {
    for (const { id, kept } of this.#talk.requests) {
      if (kept.rpcId === rpcId) this.#talk.settled(id, 'withdrawn');
    }
  }

  answer(id: string, answer: InteractionAnswer): boolean {
    const request = this.#talk.request(id);
    if (request === null) return false;
    const { kept } = request;
    if (kept.kind === 'questions') return this.#answerQuestion(id, kept, request.toolId, answer);
    if (answer.kind === 'text') return false;
    const chosen =
      answer.kind === 'refuse'
        ? { outcome: 'refused' as const, result: kept.refusal }
        : kept.responses.find(({ optionId }) => optionId === answer.optionId);
    if (chosen === undefined) return false;
    this.#respond(kept.rpcId, chosen.result);
    this.#talk.settled(id, chosen.outcome);
    return true;
  }

  #ask(
    rpcId: RpcId,
    choices: readonly Choice[],
    about: Pick<Asked<AskedOfPerson>, 'tool' | 'toolId' | 'title' | 'detail'> & { agentId: string | null },
  ): void {
    const refusal = choices.findLast(({ option }) => option.kind === 'reject-once')?.result;
    const isKept = this.#talk.asked({
      requestId: String(rpcId),
      interaction: 'approval',
      ...about,
      options: choices.map(({ option }) => option),
      kept: {
        kind: 'approval',
        rpcId,
        responses: choices.map(({ option: { optionId }, outcome, result }) => ({
          optionId,
          outcome,
          result,
        })),
        refusal,
      },
    });
    if (!isKept) this.#tooMuch(rpcId, refusal);
  }

  #tooMuch(rpcId: RpcId, refusal: unknown): void {
    this.#talk.notice('warning', 'A request was refused: too much waits for an answer.');
    this.#respond(rpcId, refusal);
  }

  #askNext(kept: Questions, toolId: string | null): boolean {
    const questions = questionsOf(kept);
    const at = kept.answers.length;
    const question = questions[at];
    if (question === undefined) return false;
    return this.#talk.asked({
      requestId: questionId(kept.requestId, at),
      interaction: 'question',
      tool: 'request_user_input',
      toolId,
      title: question.text,
      detail: questionDetail(question, at, questions.length),
      options: questionOptions(question),
      kept,
    });
  }

  #answerQuestion(id: string, kept: Questions, toolId: string | null, answer: InteractionAnswer): boolean {
    if (answer.kind === 'refuse') {
      // It has no word for it: no answer is one.
      this.#respond(kept.rpcId, { answers: {} });
      this.#talk.settled(id, 'refused');
      return true;
    }
    const question = questionsOf(kept)[kept.answers.length];
    const said = question === undefined ? null : answerTo(question, answer);
    if (said === null) return false;
    const answers = [...kept.answers, said];
    this.#talk.settled(id, 'answered');
    if (answers.length < kept.questions.length && this.#askNext({ ...kept, answers }, toolId)) return true;
    const byId = kept.questions
      .slice(0, answers.length)
      .map((one, at): [string, object] => [one.id, { answers: [answers[at] ?? ''] }]);
    this.#respond(kept.rpcId, { answers: Object.fromEntries(byId) });
    return true;
  }
}

const allow = (
  optionId: string,
  label: string,
  kind: 'allow-once' | 'allow-always',
  result: unknown,
): Choice => ({ option: { optionId, label: boundText(label, 512), kind }, outcome: 'approved', result });

const reject = (
  optionId: string,
  label: string,
  result: unknown,
  kind: 'reject-once' | 'other' = 'reject-once',
): Choice => ({ option: { optionId, label, kind }, outcome: 'refused', result });

function decisions(...between: readonly Choice[]): Choice[] {
  return [
    allow('accept', 'Allow once', 'allow-once', { decision: 'accept' }),
    allow('acceptForSession', 'Allow for this session', 'allow-always', { decision: 'acceptForSession' }),
    ...between,
    reject('decline', 'Refuse, and go on', { decision: 'decline' }),
    reject('cancel', 'Refuse, and end the turn', { decision: 'cancel' }, 'other'),
  ];
}

function commandChoices(ask: z.infer<typeof CommandApproval>): Choice[] {
  const prefix = ask.proposedExecpolicyAmendment;
  const hosts = ask.proposedNetworkPolicyAmendments ?? [];
  return decisions(
    ...(prefix === null || prefix.length === 0
      ? []
      : [
          allow('acceptWithExecpolicyAmendment', `Always allow ${prefix.join(' ')}`, 'allow-always', {
            decision: { acceptWithExecpolicyAmendment: { execpolicy_amendment: prefix } },
          }),
        ]),
    ...hosts
      .filter(({ action }) => action === 'allow')
      .map((host, at) =>
        allow(`applyNetworkPolicyAmendment-${at + 1}`, `Always allow ${host.host ?? '?'}`, 'allow-always', {
          decision: { applyNetworkPolicyAmendment: { network_policy_amendment: host } },
        }),
      ),
  );
}

const questionsOf = ({ questions }: Questions): Question[] =>
  questions.map(({ question, options, isOther }) => ({
    text: question,
    options: options ?? [],
    takesText: isOther || options === null || options.length === 0,
  }));

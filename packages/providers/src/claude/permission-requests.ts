/** What Claude Code asks a person: may this tool run, and the questions of its own tool for that. */
import type { InteractionOption } from '@roost/protocol';
import * as z from 'zod';
import type { InteractionAnswer } from '../agent-driver.ts';
import { boundText, byteLength } from '../agent-text.ts';
import type { Conversation } from '../conversation.ts';
import type { JsonObject } from '../json-object.ts';
import { answerTo, type Question, questionDetail, questionId, questionOptions } from '../question-list.ts';
import { AskedQuestions, type CanUseTool, type PermissionUpdate } from './stream-lines.ts';

const ASK_TOOL = 'AskUserQuestion';

/**
 * Bytes of a tool's input that are kept to be given back with the permission. Of a longer one nothing is given back: an empty object
 * means the input as it was (2.1.197; leaving the field out fails the request).
 */
const INPUT_KEPT_BYTES_MAX = 16 * 1024;

const anyObject = z.record(z.string(), z.unknown());

/** What is kept to answer a request. */
export const AskedOfPerson = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('permission'), input: anyObject.nullable(), always: z.array(z.unknown()) }),
  z.object({
    kind: z.literal('questions'),
    requestId: z.string(),
    input: anyObject,
    answers: z.array(z.string()),
  }),
]);
export type AskedOfPerson = z.infer<typeof AskedOfPerson>;
type Permission = Extract<AskedOfPerson, { kind: 'permission' }>;
type Questions = Extract<AskedOfPerson, { kind: 'questions' }>;

interface PermissionPort {
  respond(requestId: string, response: object): void;
  /** A person, or somebody for them, refused this tool call. */
  refused(toolId: string | null): void;
}

export class PermissionRequests {
  readonly #talk: Conversation<AskedOfPerson>;
  readonly #port: PermissionPort;

  constructor(talk: Conversation<AskedOfPerson>, port: PermissionPort) {
    this.#talk = talk;
    this.#port = port;
  }

  received(requestId: string, ask: z.infer<typeof CanUseTool>): void {
    if (this.#talk.request(requestId) !== null) return;
    const isKept =
      ask.tool_name === ASK_TOOL
        ? this.#askNext({ kind: 'questions', requestId, input: ask.input, answers: [] }, ask.tool_use_id)
        : this.#askPermission(requestId, ask);
    if (isKept) return;
    this.#talk.notice('warning', `Refused ${ask.tool_name}: too much waits for an answer.`);
    this.#port.respond(requestId, { behavior: 'deny', message: 'Too much waits for an answer.' });
  }

  /** The agent takes it back. */
  withdrawn(requestId: string): void {
    for (const { id, kept } of this.#talk.requests) {
      if (id === requestId || (kept.kind === 'questions' && kept.requestId === requestId)) {
        this.#talk.settled(id, 'withdrawn');
      }
    }
  }

  answer(requestId: string, answer: InteractionAnswer): boolean {
    const kept = this.#talk.request(requestId)?.kept;
    if (kept === undefined) return false;
    return kept.kind === 'permission'
      ? this.#answerPermission(requestId, kept, answer)
      : this.#answerQuestion(requestId, kept, answer);
  }

  #askPermission(requestId: string, ask: z.infer<typeof CanUseTool>): boolean {
    const always = ask.permission_suggestions.filter(
      ({ behavior }) => behavior === null || behavior === 'allow',
    );
    const input = byteLength(JSON.stringify(ask.input)) <= INPUT_KEPT_BYTES_MAX ? ask.input : null;
    return this.#talk.asked({
      requestId,
      interaction: 'approval',
      tool: ask.tool_name,
      toolId: ask.tool_use_id,
      title: ask.title ?? ask.description ?? ask.display_name ?? ask.tool_name,
      detail: inputDetail(ask.input),
      options: permissionOptions(always),
      agentId: ask.agent_id,
      kept: { kind: 'permission', input, always },
    });
  }

  #askNext(kept: Questions, toolId: string | null): boolean {
    const questions = questionsOf(kept.input);
    const at = kept.answers.length;
    const question = questions[at];
    if (question === undefined) return false;
    return this.#talk.asked({
      requestId: questionId(kept.requestId, at),
      interaction: 'question',
      tool: ASK_TOOL,
      toolId,
      title: question.text,
      detail: questionDetail(question, at, questions.length),
      options: questionOptions(question),
      kept,
    });
  }

  #answerPermission(requestId: string, { input, always }: Permission, answer: InteractionAnswer): boolean {
    if (answer.kind === 'text') return false;
    if (answer.kind === 'refuse') return this.#refuse(requestId, requestId, answer.message);
    const allow = { behavior: 'allow', updatedInput: input ?? {} };
    switch (answer.optionId) {
      case 'reject':
        return this.#refuse(requestId, requestId, null);
      case 'allow':
        this.#port.respond(requestId, allow);
        break;
      case 'allow-always':
        if (always.length === 0) return false;
        this.#port.respond(requestId, { ...allow, updatedPermissions: always });
        break;
      default:
        return false;
    }
    this.#talk.settled(requestId, 'approved');
    return true;
  }

  #answerQuestion(id: string, kept: Questions, answer: InteractionAnswer): boolean {
    const { requestId, input } = kept;
    if (answer.kind === 'refuse') return this.#refuse(id, requestId, answer.message);
    const questions = questionsOf(input);
    const question = questions[kept.answers.length];
    const said = question === undefined ? null : answerTo(question, answer);
    if (said === null) return false;
    const toolId = this.#talk.request(id)?.toolId ?? null;
    const answers = [...kept.answers, said];
    this.#talk.settled(id, 'answered');
    if (answers.length < questions.length) {
      if (!this.#askNext({ ...kept, answers }, toolId)) {
        this.#port.respond(requestId, { behavior: 'deny', message: 'The answers are too long to be kept.' });
      }
      return true;
    }
    const byQuestion = Object.fromEntries(questions.map(({ text }, at) => [text, answers[at] ?? '']));
    this.#port.respond(requestId, { behavior: 'allow', updatedInput: { ...input, answers: byQuestion } });
    return true;
  }

  #refuse(id: string, requestId: string, message: string | null): true {
    this.#port.refused(this.#talk.request(id)?.toolId ?? null);
    this.#talk.settled(id, 'refused');
    this.#port.respond(requestId, { behavior: 'deny', message: message ?? 'This was declined.' });
    return true;
  }
}

function permissionOptions(always: readonly PermissionUpdate[]): InteractionOption[] {
  return [
    { optionId: 'allow', label: 'Allow once', kind: 'allow-once' },
    ...(always.length === 0
      ? []
      : [
          {
            optionId: 'allow-always',
            label: boundText(`Allow, and ${always.map(describeUpdate).join(', ')}`, 512),
            kind: 'allow-always',
          } as const,
        ]),
    { optionId: 'reject', label: 'Reject', kind: 'reject-once' },
  ];
}

function describeUpdate({ type, rules, mode, directories }: PermissionUpdate): string {
  if (type === 'setMode') return `go on in mode ${mode ?? '?'}`;
  if (type === 'addDirectories') return `allow ${(directories ?? []).join(', ')}`;
  const named = (rules ?? []).map(({ toolName, ruleContent }) =>
    ruleContent === null ? toolName : `${toolName}(${ruleContent})`,
  );
  return `always allow ${named.length === 0 ? 'this' : named.join(', ')}`;
}

/** What a person has to see before the rest. */
function inputDetail(input: JsonObject): string {
  if (typeof input.command === 'string') return input.command;
  if (typeof input.plan === 'string') return input.plan;
  return JSON.stringify(input, null, 2);
}

function questionsOf(input: unknown): Question[] {
  const parsed = AskedQuestions.safeParse(input);
  if (!parsed.success) return [];
  return parsed.data.questions.map(({ question, options }) => ({
    text: question,
    options,
    takesText: true,
  }));
}

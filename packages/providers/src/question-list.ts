/**
 * A request that asks several questions at once, put to a person one after the other: each is a request of its own, and the last
 * answer answers all of them.
 */
import type { InteractionOption } from '@roost/protocol';
import { eventSentence } from './agent-text.ts';
import type { InteractionAnswer } from './agent-driver.ts';

export interface Question {
  readonly text: string;
  readonly options: readonly { readonly label: string; readonly description: string | null }[];
  /** Besides its options, or without any, it takes what a person writes. */
  readonly takesText: boolean;
}

/** The id under which a question is asked; the first has that of the request itself. */
export const questionId = (requestId: string, at: number): string =>
  at === 0 ? requestId : `${requestId}/${at + 1}`;

export function questionOptions({ options }: Question): InteractionOption[] {
  return options.map(({ label }, at) => ({
    optionId: optionId(at),
    label: eventSentence(label) || optionId(at),
    kind: 'other',
  }));
}

export function questionDetail(question: Question, at: number, count: number): string {
  const lines = question.options.map(({ label, description }) =>
    description === null || description === '' ? `- ${label}` : `- ${label}: ${description}`,
  );
  return [question.text, ...lines, ...(count > 1 ? [`(${at + 1} of ${count})`] : [])].join('\n');
}

/** What was said, in the words that the provider expects; null when the question does not take it. */
export function answerTo(
  question: Question,
  answer: Exclude<InteractionAnswer, { kind: 'refuse' }>,
): string | null {
  if (answer.kind === 'option') {
    return question.options.find((_, at) => optionId(at) === answer.optionId)?.label ?? null;
  }
  const isLabel = question.options.some(({ label }) => label === answer.text);
  return question.takesText || isLabel ? answer.text : null;
}

const optionId = (at: number): string => `option-${at + 1}`;

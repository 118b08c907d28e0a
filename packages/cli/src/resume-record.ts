/** A record's next run. */
import { INITIAL_PROMPT_BYTES_MAX, RESUME_TIMEOUT_MS, type Result } from '@roost/protocol';
import type { CommandContext } from './command-context.ts';
import { UsageError } from './usage-error.ts';

/** Milliseconds beyond the node's own limit until its answer must be here. */
const ANSWER_MS = 10_000;

export interface ResumeWish {
  readonly size?: { readonly columns: number; readonly rows: number } | undefined;
  readonly prompt?: string | undefined;
}

export async function resumeRecord(
  context: CommandContext,
  selector: string,
  { size, prompt }: ResumeWish,
): Promise<Result<'record.resume'>> {
  const { id } = await context.resolveRecord(selector);
  return (await context.node()).request(
    'record.resume',
    {
      recordId: id,
      ...(size === undefined ? {} : { size }),
      ...(prompt === undefined ? {} : { prompt }),
    },
    { timeoutMs: RESUME_TIMEOUT_MS + ANSWER_MS },
  );
}

export function readInitialPrompt(text: string): string {
  if (Buffer.byteLength(text) > INITIAL_PROMPT_BYTES_MAX) {
    throw new UsageError(
      `the prompt is longer than ${INITIAL_PROMPT_BYTES_MAX} bytes; roost prompt takes longer ones`,
    );
  }
  return text;
}

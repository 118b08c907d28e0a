import * as z from 'zod';
import { ARGUMENT_BYTES_MAX, SESSION_OPTION_BYTES_MAX, SESSION_OPTION_TOOLS_MAX } from './bounds.ts';
import { boundedText } from './bounded-text.ts';
import { AbsolutePath } from './ids.ts';
import { lazySchema } from './lazy-schema.ts';

/** One word for a command line: it must not pass for an option. */
const optionWord = boundedText(SESSION_OPTION_BYTES_MAX).regex(
  /^[^-\p{Cc}][^\p{Cc}]*$/u,
  'text without control characters that does not begin with a dash',
);

/**
 * How an agent is to work, in words that are the same for all of them. Each provider says it in arguments of its own; one that has
 * none for it refuses the launch.
 */
export const SessionOptions = lazySchema(() =>
  z.strictObject({
    model: optionWord.optional(),
    permissionMode: optionWord.optional(),
    effort: optionWord.optional(),
    allowedTools: z.array(optionWord).min(1).max(SESSION_OPTION_TOOLS_MAX).optional(),
    disallowedTools: z.array(optionWord).min(1).max(SESSION_OPTION_TOOLS_MAX).optional(),
    /** A file of the node's machine. */
    mcpConfig: AbsolutePath.optional(),
    appendSystemPrompt: boundedText(ARGUMENT_BYTES_MAX / 2)
      .min(1)
      .refine((text) => !text.includes('\0'), 'no NUL')
      .optional(),
  }),
);
export type SessionOptions = z.infer<typeof SessionOptions>;

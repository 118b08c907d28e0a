import * as z from 'zod';
import { lazySchema } from './lazy-schema.ts';
import { TerminalSize } from './terminal-size.ts';

/** The screen of a terminal session at one moment; a newer one replaces it whole. */
export const ScreenFrame = lazySchema(() =>
  z.object({
    /** Grows with every change of this session's screen; unrelated to events. */
    sequence: z.int().nonnegative(),
    size: TerminalSize,
    cursor: z.object({ column: z.int(), row: z.int(), visible: z.boolean() }),
    /** Text lines of the screen, top first, trailing blanks cut. */
    lines: z.array(z.string()),
    /** Terminal text that draws the screen on a blank terminal of that size: colours, attributes, modes, cursor. */
    drawing: z.string(),
    alternateScreen: z.boolean(),
    title: z.string().nullable(),
  }),
);
export type ScreenFrame = z.infer<typeof ScreenFrame>;

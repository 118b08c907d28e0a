import * as z from 'zod';
import { TERMINAL_CELLS_PER_SIDE_MAX } from './bounds.ts';

export const TerminalSize = z.object({
  columns: z.int().min(1).max(TERMINAL_CELLS_PER_SIDE_MAX),
  rows: z.int().min(1).max(TERMINAL_CELLS_PER_SIDE_MAX),
});
export type TerminalSize = z.infer<typeof TerminalSize>;

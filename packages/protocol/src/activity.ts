/** What an agent is doing, as far as the best source that there is tells. */
import * as z from 'zod';
import { boundedText } from './bounded-text.ts';
import { AGENT_NAME_BYTES_MAX, BlockAuthority } from './agent-event.ts';

/**
 * starting: runs, and takes no prompt yet. ready: takes its first prompt. working: a turn runs. blocked: waits for a person.
 * idle: a turn was ended by a person, or somebody has seen that it is done. done: a turn is finished and nobody has looked yet.
 * unknown: no source tells.
 */
export const ActivityState = z.enum(['starting', 'ready', 'working', 'blocked', 'idle', 'done', 'unknown']);
export type ActivityState = z.infer<typeof ActivityState>;

/** Why a person is needed. */
export const BlockReason = z.enum([
  'approval',
  'question',
  'trust',
  'login',
  'onboarding',
  'update',
  'hooks',
  'api-key',
  'quota',
  'error',
  'other',
]);
export type BlockReason = z.infer<typeof BlockReason>;

/** In the order in which they are believed. */
export const ActivitySource = z.enum(['stream', 'hooks', 'terminal', 'screen', 'process']);
export type ActivitySource = z.infer<typeof ActivitySource>;

export const Activity = z.object({
  state: ActivityState,
  source: ActivitySource,
  /** When it came to be so. */
  since: z.iso.datetime(),
  /** With `blocked` only. */
  reason: BlockReason.nullable(),
  authority: BlockAuthority.nullable(),
  /** The tool that is asked about, until when a limit holds, the provider's code of a fault. Never what an agent read or wrote. */
  detail: boundedText(AGENT_NAME_BYTES_MAX).nullable(),
});
export type Activity = z.infer<typeof Activity>;

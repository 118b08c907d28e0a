/**
 * What a screen tells about an agent, as data: rules from the surest to the least sure; the first that matches decides, and none
 * means that nothing is known. A rule must see something that only that state shows: neither silence nor a missing thing proves a state.
 */
import type { BlockReason } from '@roost/protocol';

/** The part of the screen that is looked at. Lines are without trailing blanks; empty lines at the bottom do not count. */
export type ScreenRegion =
  | { readonly kind: 'screen' }
  /** The last lines that are not empty. */
  | { readonly kind: 'bottom'; readonly lines: number }
  | { readonly kind: 'title' };

export const bottom = (lines: number): ScreenRegion => ({ kind: 'bottom', lines });

/** Every field that is there must hold. Patterns never carry the flags g or y. */
export interface ScreenGate {
  readonly in: ScreenRegion;
  /** All of them match somewhere in the region. */
  readonly all?: readonly RegExp[];
  readonly any?: readonly RegExp[];
  readonly none?: readonly RegExp[];
}

export interface ScreenRule {
  /** Unique in its provider. */
  readonly id: string;
  readonly state: 'working' | 'blocked' | 'composer';
  /** With `blocked`. */
  readonly reason?: BlockReason;
  /** All of them hold. */
  readonly gates: readonly ScreenGate[];
}

export interface ScreenView {
  readonly lines: readonly string[];
  readonly title: string | null;
}

export interface ScreenVerdict {
  readonly ruleId: string;
  /** `composer`: it waits for a prompt; whether that is ready, idle or done is for whoever knows what was before. */
  readonly state: ScreenRule['state'];
  readonly reason: BlockReason | null;
  /** `terminal`: the program says it itself, by its title. */
  readonly source: 'terminal' | 'screen';
}

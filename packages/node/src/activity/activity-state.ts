// What an agent is doing, from what several sources say at different times. Pure: the same evidence at the same moments gives the
// same answer. A report of the agent is believed over a look at its screen; but reports are missing exactly where a person has
// interfered (an interrupted turn, an answered dialog), so a look that positively shows something else for long enough wins.
import type { Activity, ActivitySource, ActivityState, BlockAuthority, BlockReason } from '@roost/protocol';

/** What one source says at a moment. `composer`: it waits for a prompt. */
export type Signal =
  | { readonly kind: 'starting' | 'working' | 'composer' }
  | { readonly kind: 'finished'; readonly interrupted: boolean }
  | {
      readonly kind: 'blocked';
      readonly reason: BlockReason;
      readonly authority: BlockAuthority | null;
      readonly detail: string | null;
    };

interface Heard {
  readonly signal: Signal;
  readonly source: ActivitySource;
  /** Since when it has said so: milliseconds, of a clock that nobody sets. */
  readonly since: number;
}

export interface ActivityFacts {
  /** `since`: by the same clock. */
  readonly shown: { readonly state: ActivityState; readonly since: number } & Omit<
    Activity,
    'state' | 'since'
  >;
  /** The agent's own word: its stream or its hooks. */
  readonly told: Heard | null;
  /** A look at its terminal. */
  readonly seen: Heard | null;
  /** It has had a turn: a composer after that means that the turn is over. */
  readonly hasWorked: boolean;
  /** A look has shown work since the agent said that it began. */
  readonly workSeen: boolean;
  /** A person has ended the turn through us: its end is no news to anybody. */
  readonly interrupted: boolean;
}

/** Milliseconds that a look must hold against the agent's own word, and on its own before it changes what is shown. */
const AGAINST_WORD_MS: Readonly<Record<Signal['kind'], number>> = {
  starting: 10_000,
  working: 2_000,
  composer: 3_000,
  finished: 3_000,
  blocked: 500,
};
/** The same for what an agent asks, which it tells itself: a screen is drawn anew a moment after the answer. */
const ASKED_AGAINST_WORD_MS = 2_000;
/** The same for a composer when nobody has seen the work on its screen that the agent tells of: it takes a while to draw that. */
const EARLIER_COMPOSER_MS = 10_000;
const STEADY_MS: Readonly<Record<Signal['kind'], number>> = {
  starting: 0,
  working: 0,
  composer: 700,
  finished: 0,
  blocked: 300,
};

/** Dialogs that come before the first turn, as a rule. */
const START_UP: ReadonlySet<BlockReason> = new Set([
  'trust',
  'login',
  'onboarding',
  'update',
  'hooks',
  'api-key',
]);

export function newFacts(now: number): ActivityFacts {
  return {
    shown: { state: 'starting', source: 'process', since: now, reason: null, authority: null, detail: null },
    told: null,
    seen: null,
    hasWorked: false,
    workSeen: false,
    interrupted: false,
  };
}

/** As it was stored by a node that has ended: what it had been told is gone, what it showed is where we go on. */
export function restoredFacts(activity: Activity): ActivityFacts {
  return {
    // Before everything that comes.
    shown: { ...activity, since: Number.NEGATIVE_INFINITY },
    told: null,
    seen: null,
    hasWorked:
      activity.state === 'blocked'
        ? activity.reason === null || !START_UP.has(activity.reason)
        : !['starting', 'ready', 'unknown'].includes(activity.state),
    workSeen: false,
    interrupted: false,
  };
}

/** The agent itself says something. */
export function tell(
  facts: ActivityFacts,
  source: 'stream' | 'hooks',
  signal: Signal,
  now: number,
): ActivityFacts {
  const begins = signal.kind === 'working' && facts.told?.signal.kind !== 'working';
  const workSeen = facts.workSeen && !begins;
  return settle({ ...facts, workSeen, told: { signal, source, since: now } }, now);
}

/** Its terminal was looked at. null: the look says nothing; what was seen before stands. */
export function look(
  facts: ActivityFacts,
  seen: { readonly source: 'terminal' | 'screen'; readonly signal: Signal } | null,
  now: number,
): ActivityFacts {
  if (seen === null) return settle(facts, now);
  const signal = isStartUp(facts, seen) ? STARTING : seen.signal;
  const before = facts.seen;
  const isSame = before !== null && isSameSignal(before.signal, signal);
  const workSeen = facts.workSeen || signal.kind === 'working';
  const since = isSame ? before.since : now;
  return settle({ ...facts, workSeen, seen: { signal, source: seen.source, since } }, now);
}

const STARTING: Signal = { kind: 'starting' };

/** Some turn their title's spinner while they start, too: before the first composer, a title alone proves no turn. */
function isStartUp(
  { hasWorked, shown }: ActivityFacts,
  { source, signal }: { readonly source: ActivitySource; readonly signal: Signal },
): boolean {
  return source === 'terminal' && signal.kind === 'working' && !hasWorked && shown.state !== 'ready';
}

/** A person ends the turn through us. Where none is shown, there is none whose end it could be. */
export function interruptSent(facts: ActivityFacts): ActivityFacts {
  return isTurnShown(facts) ? { ...facts, interrupted: true } : facts;
}

export function isTurnShown({ shown: { state, reason } }: ActivityFacts): boolean {
  return state === 'working' || (state === 'blocked' && !isAfterTurn(reason));
}

/** Somebody has looked: what is done is done. */
export function acknowledge(facts: ActivityFacts, now: number): ActivityFacts {
  return facts.shown.state === 'done'
    ? { ...facts, shown: { ...facts.shown, state: 'idle', since: now } }
    : facts;
}

/** Shows what the evidence amounts to at this moment. */
export function settle(facts: ActivityFacts, now: number): ActivityFacts {
  const heard = believed(facts, now);
  if (heard === null) return facts;
  const hasWorked = facts.hasWorked || heard.signal.kind === 'working' || heard.signal.kind === 'finished';
  const isWorking = heard.signal.kind === 'working';
  const state = stateOf({ ...facts, hasWorked }, heard.signal);
  const next: ActivityFacts = {
    ...facts,
    hasWorked,
    interrupted: facts.interrupted && (isWorking || heard.signal.kind === 'blocked'),
  };
  const about = blockOf(heard.signal);
  if (
    state === facts.shown.state &&
    about.reason === facts.shown.reason &&
    about.detail === facts.shown.detail &&
    about.authority === facts.shown.authority
  ) {
    return next;
  }
  return { ...next, shown: { state, source: heard.source, since: now, ...about } };
}

/** Milliseconds until `settle` may show something else without new evidence; null when it will not. */
export function settlesIn(facts: ActivityFacts, now: number): number | null {
  const { seen } = facts;
  if (seen === null) return null;
  const due = dueAt(seen, facts);
  return due <= now || due === Number.POSITIVE_INFINITY ? null : due - now;
}

function believed(facts: ActivityFacts, now: number): Heard | null {
  const { told, seen, shown } = facts;
  if (seen === null) return told;
  if (told !== null && isSameSignal(told.signal, seen.signal)) return told;
  if (now >= dueAt(seen, facts)) return seen;
  // Not steady yet: what is shown stands, unless the agent itself says more.
  return told !== null && (told.since >= shown.since || told.source === shown.source) ? told : null;
}

function dueAt(seen: Heard, { told, workSeen }: ActivityFacts): number {
  const { kind } = seen.signal;
  const steady = seen.since + STEADY_MS[kind];
  if (told === null || isSameSignal(told.signal, seen.signal)) return steady;
  if (told.signal.kind === 'blocked' && isAfterTurn(told.signal.reason) && kind === 'composer') {
    return Number.POSITIVE_INFINITY;
  }
  if (kind === 'composer' && told.signal.kind === 'working' && (!workSeen || seen.since <= told.since))
    return told.since + EARLIER_COMPOSER_MS;
  return Math.max(steady, Math.max(seen.since, told.since) + againstWordMs(seen.signal));
}

function againstWordMs(signal: Signal): number {
  const isAsked = signal.kind === 'blocked' && (signal.reason === 'approval' || signal.reason === 'question');
  return isAsked ? ASKED_AGAINST_WORD_MS : AGAINST_WORD_MS[signal.kind];
}

/** A turn that failed is over, and leaves a composer, too: that does not speak against it. */
function isAfterTurn(reason: BlockReason | null): boolean {
  return reason === 'quota' || reason === 'error';
}

function stateOf(facts: ActivityFacts, signal: Signal): ActivityState {
  switch (signal.kind) {
    case 'starting':
    case 'working':
    case 'blocked':
      return signal.kind;
    case 'finished':
      return endOf(facts, signal.interrupted);
    case 'composer':
      return facts.hasWorked ? endOf(facts, false) : 'ready';
  }
}

/** The end of a turn is news once; what was acknowledged stays so. */
function endOf({ shown, interrupted }: ActivityFacts, endedByPerson: boolean): ActivityState {
  if (shown.state === 'idle' || shown.state === 'done') return shown.state;
  return interrupted || endedByPerson ? 'idle' : 'done';
}

function blockOf(signal: Signal): Pick<Activity, 'reason' | 'authority' | 'detail'> {
  return signal.kind === 'blocked'
    ? { reason: signal.reason, authority: signal.authority, detail: signal.detail }
    : { reason: null, authority: null, detail: null };
}

/** Two ways to say the same thing: the end of a turn leaves a composer. */
function isSameSignal(one: Signal, other: Signal): boolean {
  const kind = ({ kind }: Signal) => (kind === 'finished' ? 'composer' : kind);
  if (kind(one) !== kind(other)) return false;
  return one.kind !== 'blocked' || other.kind !== 'blocked' || one.reason === other.reason;
}

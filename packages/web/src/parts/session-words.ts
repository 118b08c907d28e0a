// What people read of a session's state, and how urgent it is.
import type { SeenSession } from '@roost/client/browser';
import { LIVE_STATUSES, type BlockReason } from '@roost/protocol';

export type Tone = 'ok' | 'busy' | 'wait' | 'bad' | 'quiet';

export interface StateWords {
  readonly text: string;
  readonly tone: Tone;
  /** It is doing something right now. */
  readonly isMoving: boolean;
}

type Stated = Pick<SeenSession, 'status' | 'activity' | 'exitCode' | 'exitSignal' | 'endReason'>;

const REASONS: Readonly<Record<BlockReason, string>> = {
  approval: 'asks for approval',
  question: 'asks a question',
  trust: 'asks whether to trust the directory',
  login: 'needs a login',
  onboarding: 'waits in its first-run screens',
  update: 'offers an update',
  hooks: 'asks about hooks',
  'api-key': 'needs an API key',
  quota: 'has reached a limit',
  error: 'stopped with an error',
  other: 'waits for you',
};

export function isLive(session: Pick<SeenSession, 'status'>): boolean {
  return LIVE_STATUSES.includes(session.status);
}

export function waitsForPerson(session: Stated): boolean {
  return isLive(session) && session.activity?.state === 'blocked';
}

export function stateWords(session: Stated): StateWords {
  switch (session.status) {
    case 'starting':
      return { text: 'starting', tone: 'busy', isMoving: true };
    case 'stopping':
      return { text: 'stopping', tone: 'quiet', isMoving: true };
    case 'failed':
      return { text: 'never ran', tone: 'bad', isMoving: false };
    case 'lost':
      return { text: 'lost: its end is unknown', tone: 'bad', isMoving: false };
    case 'exited':
      return endWords(session);
    case 'running':
      return activityWords(session);
  }
}

function endWords({ exitCode, exitSignal, endReason }: Stated): StateWords {
  if (endReason === 'stopped') return { text: 'stopped', tone: 'quiet', isMoving: false };
  if (exitSignal !== null) return { text: `ended by ${exitSignal}`, tone: 'bad', isMoving: false };
  if (exitCode === null || exitCode === 0) return { text: 'ended', tone: 'quiet', isMoving: false };
  return { text: `ended with ${exitCode}`, tone: 'bad', isMoving: false };
}

function activityWords({ activity }: Stated): StateWords {
  switch (activity?.state) {
    case 'starting':
      return { text: 'starting', tone: 'busy', isMoving: true };
    case 'working':
      return { text: 'working', tone: 'busy', isMoving: true };
    case 'blocked':
      return { text: REASONS[activity.reason ?? 'other'], tone: 'wait', isMoving: false };
    case 'done':
      return { text: 'done', tone: 'ok', isMoving: false };
    case 'ready':
      return { text: 'ready', tone: 'ok', isMoving: false };
    case 'idle':
      return { text: 'idle', tone: 'quiet', isMoving: false };
    case 'unknown':
    case undefined:
      return { text: 'running', tone: 'quiet', isMoving: false };
  }
}

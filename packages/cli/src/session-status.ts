/** How a session stands, in a few words: the state, and how it ended where that is known. */
import type { Session } from '@roost/protocol';
import type { Paint, Palette } from './paint.ts';

export function describeStatus(session: Session): string {
  switch (session.status) {
    case 'starting':
    case 'running':
    case 'stopping':
      return session.status;
    case 'exited':
      return session.exitSignal !== null
        ? `exited ${session.exitSignal}`
        : `exited ${session.exitCode ?? 'unknown'}`;
    case 'failed':
    case 'lost':
      return session.endReason === null ? session.status : `${session.status} ${session.endReason}`;
  }
}

/** For a sentence: `exited with code 3`. */
export function describeEnd(end: {
  readonly exitCode: number | null;
  readonly exitSignal: string | null;
}): string {
  if (end.exitSignal !== null) return `was ended by ${end.exitSignal}`;
  return end.exitCode === null ? 'ended' : `exited with code ${end.exitCode}`;
}

export function isLive(session: Session): boolean {
  return session.status === 'starting' || session.status === 'running' || session.status === 'stopping';
}

export function statusPaint(session: Session, palette: Palette): Paint {
  switch (session.status) {
    case 'running':
      return palette.good;
    case 'starting':
    case 'stopping':
      return palette.warn;
    case 'exited':
      return session.exitCode === 0 ? palette.faint : palette.bad;
    case 'failed':
    case 'lost':
      return palette.bad;
  }
}

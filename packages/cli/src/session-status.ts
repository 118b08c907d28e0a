/** How a session stands, in a few words: the state, and how it ended where that is known. */
import type { Activity, Session } from '@roost/protocol';
import type { Paint, Palette } from './paint.ts';

/** What of a session says how it stands. */
export type Standing = Pick<Session, 'status' | 'activity' | 'exitCode' | 'exitSignal' | 'endReason'>;

export function describeStatus(session: Standing): string {
  switch (session.status) {
    case 'running':
      return describeActivity(session.activity ?? null);
    case 'starting':
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

function describeActivity(activity: Activity | null): string {
  if (activity === null || activity.state === 'unknown') return 'running';
  return activity.reason === null ? activity.state : `${activity.state} ${activity.reason}`;
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

export function statusPaint(session: Standing, palette: Palette): Paint {
  switch (session.status) {
    case 'running':
      return activityPaint(session.activity ?? null, palette);
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

function activityPaint(activity: Activity | null, palette: Palette): Paint {
  switch (activity?.state) {
    case 'blocked':
      return palette.bad;
    case 'done':
      return palette.warn;
    case 'idle':
      return palette.faint;
    case undefined:
    case 'starting':
    case 'ready':
    case 'working':
    case 'unknown':
      return palette.good;
  }
}

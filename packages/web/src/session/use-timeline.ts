import { useEffect, useState } from 'react';
import { FailureError, type NodeId, type SessionId } from '@roost/protocol';
import type { HubApi } from '@roost/client/browser';
import { useHub } from '../hub/hub-context.tsx';
import { isOver, sleep } from '../hub/waiting.ts';
import { EMPTY_TIMELINE, foldTimeline, type Timeline } from './timeline-model.ts';

/** Bytes of a timeline that are read at first: its newest part. */
const FIRST_BYTES = 256 * 1024;
/** Milliseconds for which one question waits for more. */
const WAIT_MS = 20_000;
/** Milliseconds until what failed is tried again. */
const RETRY_MS = 3_000;

export interface ReadTimeline {
  readonly timeline: Timeline;
  /** What was said before is not shown. */
  readonly isCut: boolean;
  readonly isRead: boolean;
  /** Why it is not kept up now; it is tried again. */
  readonly error: FailureError | null;
}

const NOTHING: ReadTimeline = { timeline: EMPTY_TIMELINE, isCut: false, isRead: false, error: null };

/** The timeline of a session that is spoken with, kept up as long as it is shown. */
export function useTimeline(nodeId: NodeId, sessionId: SessionId, from: 'newest' | 'start'): ReadTimeline {
  const { api } = useHub();
  const [read, setRead] = useState<ReadTimeline>(NOTHING);
  useEffect(() => {
    const ending = new AbortController();
    setRead(NOTHING);
    void follow({ api, nodeId, sessionId, from, signal: ending.signal, onRead: setRead });
    return () => ending.abort();
  }, [api, nodeId, sessionId, from]);
  return read;
}

async function follow({
  api,
  nodeId,
  sessionId,
  from,
  signal,
  onRead,
}: {
  readonly api: HubApi;
  readonly nodeId: NodeId;
  readonly sessionId: SessionId;
  readonly from: 'newest' | 'start';
  readonly signal: AbortSignal;
  readonly onRead: (read: ReadTimeline) => void;
}): Promise<void> {
  let read = NOTHING;
  let next = from === 'newest' ? -FIRST_BYTES : 0;
  while (!signal.aborted) {
    try {
      const waitMs = read.isRead && read.error === null ? WAIT_MS : 0;
      const page = await api.node(
        nodeId,
        'session.readTimeline',
        { sessionId, from: next, waitMs },
        { signal },
      );
      const first = page.entries[0];
      read = {
        timeline: foldTimeline(read.timeline, page.entries),
        isCut: read.isRead ? read.isCut : first !== undefined && first.position > page.floor,
        isRead: true,
        error: null,
      };
      onRead(read);
      next = page.next;
      if (page.ended && page.entries.length === 0) return;
    } catch (error) {
      if (isOver(signal)) return;
      const told = error instanceof FailureError ? error : new FailureError('internal-error');
      read = { ...read, error: told };
      onRead(read);
      if (
        ['unknown-session', 'unsupported-transport', 'forbidden', 'out-of-scope'].includes(told.failure.code)
      )
        return;
      await sleep(RETRY_MS, signal);
    }
  }
}

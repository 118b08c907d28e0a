/** What a node pushes or answers, to whoever waits for it: the same over its own line and over one that a hub passes on. */
import type {
  NodeEvent,
  OutputFrame,
  ResyncRequired,
  ScreenFrame,
  SessionAddress,
  UnknownEvent,
} from '@roost/protocol';
import type { readFrameValue } from './frame-value.ts';
import type { OpenRequests } from './open-requests.ts';

/** What nobody listens to is left out. */
export interface FrameListeners {
  readonly requests: Pick<OpenRequests, 'answered' | 'refused'>;
  readonly event?: (event: NodeEvent | UnknownEvent) => void;
  readonly resync?: ((resync: ResyncRequired) => void) | undefined;
  readonly screen?: ((session: SessionAddress, frame: ScreenFrame) => void) | undefined;
  readonly output?: (frame: OutputFrame) => void;
}

/**
 * false: that is no node of this protocol any more, or one that lets nobody in any longer; nothing that follows can be trusted, and the line
 * is to be ended.
 */
export function deliverFrame(frame: ReturnType<typeof readFrameValue>, listeners: FrameListeners): boolean {
  switch (frame?.kind) {
    case 'response':
      listeners.requests.answered(frame);
      return true;
    case 'failure':
      listeners.requests.refused(frame);
      return true;
    case 'event':
      listeners.event?.(frame.event);
      return true;
    case 'resync-required':
      listeners.resync?.(frame);
      return true;
    case 'screen':
      listeners.screen?.(frame.session, frame.frame);
      return true;
    case 'output':
      listeners.output?.(frame);
      return true;
    case 'unknown-kind':
      return true;
    case 'refused':
    case 'challenge':
    case 'ready':
    case undefined:
      return false;
  }
}

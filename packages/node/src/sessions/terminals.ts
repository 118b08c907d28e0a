// Ways to the terminal lane of a session, which is its keeper's: a ticket for clients on this machine, a channel for others.
import { FailureError, type SessionId } from '@roost/protocol';
import type { Activities } from '../activity/activity.ts';
import type { Caller, Handlers } from '../control/handlers.ts';
import type { KeeperLink } from '../keepers/keeper-link.ts';
import type { KeeperPool } from '../keepers/keeper-pool.ts';
import type { Store } from '../store/store.ts';
import { locateById } from './locate-session.ts';
import { isLive } from './session-table.ts';

type TerminalOperation = 'session.attach' | 'terminal.open' | 'terminal.close';
type AttachMode = 'drive' | 'watch';

export function terminalOperations(scene: {
  readonly store: Store;
  readonly keepers: KeeperPool;
  readonly activities: Pick<Activities, 'acknowledge'>;
}): Pick<Handlers, TerminalOperation> {
  const { activities } = scene;

  const grant = async (caller: Caller, sessionId: SessionId, mode: AttachMode) => {
    const link = linkOf(caller, sessionId);
    const granted = await link.call('grantAttach', {
      sessionId,
      mode,
      clientName: caller.clientName,
    });
    // Who may only look changes nothing by it.
    if (caller.role !== 'observer') activities.acknowledge(sessionId);
    return { endpoint: link.socketPath, ...granted };
  };

  /** The keeper of a terminal session that runs. */
  const linkOf = (caller: Caller, sessionId: SessionId): KeeperLink => {
    const row = locateById(scene.store.sql, caller, sessionId);
    if (row.transport !== 'pty') throw new FailureError('unsupported-transport', { sessionId });
    if (!isLive(row)) throw new FailureError('session-not-running', { sessionId, status: row.status });
    const link = scene.keepers.get(row.keeper_id);
    if (link === null) throw new FailureError('keeper-unavailable', { sessionId });
    return link;
  };

  return {
    'session.attach': async ({ sessionId, mode }, caller) => {
      const { endpoint, ticket, expiresInMs } = await grant(caller, sessionId, mode);
      return { endpoint, ticket, expiresInMs };
    },

    'terminal.open': async ({ sessionId, mode }, caller) => {
      if (mode === 'drive' && caller.role === 'observer') throw new FailureError('observer-read-only');
      const { endpoint, ticket } = await grant(caller, sessionId, mode);
      return { channel: await caller.terminals.open(endpoint), ticket };
    },

    'terminal.close': ({ channel }, { terminals }) => {
      terminals.close(channel);
      return {};
    },
  };
}

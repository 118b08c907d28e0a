// The operations on sessions that are spoken with, and on what they ask.
import { FailureError, INTERACTIONS_LISTED_MAX, type Interaction } from '@roost/protocol';
import { AnswerRoom } from '../control/answer-room.ts';
import type { Caller, Handlers } from '../control/handlers.ts';
import { locateAddress, locateById } from '../sessions/locate-session.ts';
import { findSession } from '../sessions/session-table.ts';
import type { Store } from '../store/store.ts';
import type { Conversations } from './conversations.ts';
import {
  findInteraction,
  interactionView,
  listInteractions,
  type InteractionRow,
} from './interaction-table.ts';

type ConversationOperation =
  'session.readTimeline' | 'session.choose' | 'interaction.list' | 'interaction.resolve';

export function conversationOperations({
  store,
  conversations,
}: {
  readonly store: Store;
  readonly conversations: Conversations;
}): Pick<Handlers, ConversationOperation> {
  /** null: the caller may not see its session. */
  const view = (caller: Caller, row: InteractionRow): Interaction | null => {
    const session = findSession(store.sql, row.session_id);
    if (session === null || !isVisible(caller, session.id)) return null;
    return interactionView(session, row);
  };
  const isVisible = (caller: Caller, sessionId: InteractionRow['session_id']): boolean => {
    try {
      locateById(store.sql, caller, sessionId);
      return true;
    } catch (error) {
      if (error instanceof FailureError) return false;
      throw error;
    }
  };
  const find = (caller: Caller, interactionId: string): { row: InteractionRow; shown: Interaction } => {
    const row = findInteraction(store.sql, interactionId);
    const shown = row === null ? null : view(caller, row);
    if (row === null || shown === null) throw new FailureError('unknown-interaction', { interactionId });
    return { row, shown };
  };

  return {
    'session.readTimeline': (params, caller) => {
      const row = locateById(store.sql, caller, params.sessionId);
      if (row.protocol === null) throw new FailureError('unsupported-transport', { sessionId: row.id });
      return conversations.readTimeline(row, params, caller.signal);
    },

    'session.choose': async ({ choice, id, ...address }, caller) => {
      await conversations.require(locateAddress(store.sql, caller, address)).choose(choice, id);
      return {};
    },

    'interaction.list': ({ sessionId = null, includeSettled }, caller) => {
      if (sessionId !== null) locateById(store.sql, caller, sessionId);
      const rows = listInteractions(store.sql, {
        sessionId,
        includeSettled,
        limit: INTERACTIONS_LISTED_MAX + 1,
      });
      const shown = rows.slice(0, INTERACTIONS_LISTED_MAX).flatMap((row) => view(caller, row) ?? []);
      const room = new AnswerRoom();
      const cut = shown.findIndex((interaction) => !room.take(interaction));
      const interactions = cut < 0 ? shown : shown.slice(0, cut);
      return { interactions, truncated: cut >= 0 || rows.length > INTERACTIONS_LISTED_MAX };
    },

    'interaction.resolve': async ({ interactionId, reply }, caller) => {
      const { row, shown } = find(caller, interactionId);
      const { state, outcome, answeredBy } = shown;
      if (state !== 'pending') {
        const how = {
          ...(outcome === null ? {} : { outcome }),
          ...(answeredBy === null ? {} : { answeredBy }),
        };
        throw new FailureError('interaction-settled', { interactionId, state, ...how });
      }
      const session = locateById(store.sql, caller, row.session_id);
      await conversations.require(session).answer(row, reply);
      return find(caller, interactionId).shown;
    },
  };
}

// The operations on sessions. What lasts is in rows; what changes by the second (title, size, attached clients) is told by the
// keeper and laid over the row when somebody looks.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  FailureError,
  NODE_FRAME_BYTES_MAX,
  SESSIONS_LISTED_MAX,
  Session,
  type Params,
  type Result,
  type SessionId,
} from '@roost/protocol';
import { findProvider } from '@roost/providers';
import type { Activities } from '../activity/activity.ts';
import { AnswerRoom } from '../control/answer-room.ts';
import type { Caller, Handlers } from '../control/handlers.ts';
import type { KeeperLink } from '../keepers/keeper-link.ts';
import type { KeeperPool } from '../keepers/keeper-pool.ts';
import type { Store } from '../store/store.ts';
import type { Reservations } from '../worktrees/reservations.ts';
import { paste, type Prompts } from '../prompts/prompts.ts';
import { sayPrompt } from '../prompts/say-prompt.ts';
import { lastLines, readFinalScreen } from './final-screen.ts';
import type { Conversations } from '../conversations/conversations.ts';
import type { SessionLifecycle } from './lifecycle.ts';
import { locateAddress, locateById, locateRun } from './locate-session.ts';
import { requireOutput } from './output-access.ts';
import type { PipeOutput } from './pipe-output.ts';
import type { Removals } from './removals.ts';
import { resolveSelector } from './selector.ts';
import {
  deleteSession,
  findSession,
  isLive,
  listSessions,
  sessionsMatching,
  sessionView,
  type SessionRow,
} from './session-table.ts';
import type { LaunchSource } from './launch.ts';
import { spawnSession } from './spawn.ts';
import { stopSession } from './stop.ts';
import { KEY_TEXT } from './terminal-keys.ts';
import { UsageMeter } from './usage.ts';
import { waitForEnd } from './wait.ts';

export interface SessionScene {
  readonly store: Store;
  readonly keepers: KeeperPool;
  readonly lifecycle: SessionLifecycle;
  readonly output: PipeOutput;
  readonly removals: Removals;
  readonly sessionsDirectory: string;
  readonly source: LaunchSource;
  readonly activities: Pick<Activities, 'acknowledge' | 'interruptSent'>;
  readonly conversations: Conversations;
  readonly prompts: Pick<Prompts, 'give' | 'requirePrompt'>;
  /** Directories in which nothing starts now. */
  readonly reservations: Pick<Reservations, 'requireFree'>;
}

/** Those on a session as such; what concerns its record, its repository, and what is pushed, is told elsewhere. */
type SessionOperation = Exclude<
  Extract<keyof Handlers, `session.${string}`>,
  | 'session.attach'
  | 'session.resume'
  | 'session.reportIdentity'
  | 'session.followOutput'
  | 'session.unfollowOutput'
  | 'session.diff'
  | 'session.readTimeline'
  | 'session.choose'
>;

export function sessionOperations(scene: SessionScene): Pick<Handlers, SessionOperation> {
  const { store, keepers, lifecycle, output, removals, activities, conversations } = scene;
  const usage = new UsageMeter();

  const find = (caller: Caller, sessionId: SessionId): SessionRow => locateById(store.sql, caller, sessionId);
  const view = (row: SessionRow): Session => sessionView(row, keepers.child(row.keeper_id, row.id));

  /** The keeper of a session that runs. */
  const running = (row: SessionRow): KeeperLink => {
    const sessionId = row.id;
    if (!isLive(row)) throw new FailureError('session-not-running', { sessionId, status: row.status });
    const link = keepers.get(row.keeper_id);
    if (link === null) throw new FailureError('keeper-unavailable', { sessionId });
    return link;
  };

  const typeRaw = async (row: SessionRow, text: string): Promise<void> => {
    const link = running(row);
    if (row.transport !== 'pty') throw new FailureError('unsupported-transport', { sessionId: row.id });
    await link.call('input', { sessionId: row.id, text, framing: 'raw', submit: false }, null);
  };

  return {
    'session.spawn': (request, caller) =>
      spawnSession({ ...scene, caller, removed: () => void removals.clean() }, request),

    'session.list': ({ includeEnded, withUsage }) => {
      const rows = listSessions(store.sql, includeEnded, SESSIONS_LISTED_MAX + 1);
      const listed = rows.slice(0, SESSIONS_LISTED_MAX);
      const measured = withUsage ? usage.measure(listed.filter(isLive)) : null;
      const sessions = listed
        .map((row) => ({ ...view(row), usage: measured?.get(row.id) ?? null }))
        .filter((session) => includeEnded || session.status !== 'exited');
      const room = new AnswerRoom();
      const from = sessions.findLastIndex((session) => !room.take(session)) + 1;
      return { sessions: sessions.slice(from), truncated: from > 0 || rows.length > listed.length };
    },

    'session.resolve': ({ selector }, caller) => {
      const seen = sessionsMatching(store.sql, selector).filter(
        (row) => caller.projection.lacks(Session, view(row)) === null,
      );
      return view(resolveSelector(selector, seen, { isLive, missing: 'unknown-session' }));
    },

    'session.readScreen': (params, caller) => readScreen(scene, find(caller, params.sessionId), params),

    'session.readOutput': (params, caller) => {
      const { sessionId } = params;
      requireOutput(caller, find(caller, sessionId));
      const hasEnded = () => {
        const row = findSession(store.sql, sessionId);
        return row === null || !isLive(row);
      };
      return output.read(params, hasEnded, caller.signal);
    },

    'session.input': ({ text, framing, submit, ...address }, caller) => {
      const row = locateAddress(store.sql, caller, address);
      // A line of somebody else would break the conversation.
      if (row.protocol !== null) throw new FailureError('unsupported-transport', { sessionId: row.id });
      return running(row).call('input', { sessionId: row.id, text, framing, submit }, null);
    },

    'session.prompt': (params, caller) => {
      const row = locateAddress(store.sql, caller, params);
      if (row.protocol !== null) return sayPrompt(conversations.require(row), params, caller.signal);
      return scene.prompts.give(row, () => running(row), params, caller.signal);
    },

    'session.paste': ({ text, ...address }, caller) => {
      const row = locateAddress(store.sql, caller, address);
      if (row.protocol !== null) throw new FailureError('unsupported-transport', { sessionId: row.id });
      scene.prompts.requirePrompt(row);
      return paste(row, running(row), text, false);
    },

    'session.sendBytes': async ({ base64, ...address }, caller) => {
      await typeRaw(locateAddress(store.sql, caller, address), terminalText(base64));
      return {};
    },

    'session.sendKey': async ({ key, ...address }, caller) => {
      await typeRaw(locateAddress(store.sql, caller, address), KEY_TEXT[key]);
      return {};
    },

    'session.resize': async ({ size, ...address }, caller) => {
      const row = locateAddress(store.sql, caller, address);
      await running(row).call('resize', { sessionId: row.id, ...size });
      return {};
    },

    'session.interrupt': async (address, caller) => {
      const row = locateAddress(store.sql, caller, address);
      if (row.protocol === null) await interruptTurn(row, running(row));
      else await conversations.require(row).interrupt();
      activities.interruptSent(row.id);
      return {};
    },

    'session.acknowledge': (address, caller) => {
      activities.acknowledge(locateAddress(store.sql, caller, address).id);
      return {};
    },

    'session.stop': ({ force, graceMs, ...address }, caller) =>
      stopSession(scene, {
        sessionId: address.sessionId,
        locate: (sql) => locateAddress(sql, caller, address),
        force,
        graceMs,
      }),

    'session.remove': async (address, caller) => {
      const sessionId = locateRun(store.sql, caller, address).id;
      await lifecycle.settle(sessionId);
      store.transact((transaction) => {
        const row = locateRun(transaction.sql, caller, address);
        if (isLive(row)) throw new FailureError('session-running', { sessionId, name: row.name });
        deleteSession(transaction, row);
      });
      await removals.clean();
      return {};
    },

    'session.wait': async ({ sessionId, waitMs }, caller) => {
      find(caller, sessionId);
      await waitForEnd(store, { sessionId, waitMs, signal: caller.signal });
      return view(find(caller, sessionId));
    },
  };
}

/** Milliseconds between two keys of one interrupt: closer ones are read as one. */
const KEY_PAUSE_MS = 300;

/** An agent's terminal is told to end its turn as its person would; Ctrl-C would end the agent. */
async function interruptTurn(row: SessionRow, link: KeeperLink): Promise<void> {
  const sessionId = row.id;
  const keys = row.transport === 'pty' ? (findProvider(row.provider)?.interruptKeys ?? []) : [];
  if (keys.length === 0) await link.call('interrupt', { sessionId });
  for (const [at, key] of keys.entries()) {
    if (at > 0) await delay(KEY_PAUSE_MS);
    await link.call('input', { sessionId, text: key, framing: 'raw', submit: false });
  }
}

/** @throws FailureError: invalid-request; a keeper takes text. */
function terminalText(base64: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(base64, 'base64'));
  } catch {
    throw new FailureError('invalid-request', { issues: ['base64: not UTF-8'] });
  }
}

/** Characters of lines that one answer may hold, with room for their escapes. */
const SCREEN_CHARACTERS_MAX = NODE_FRAME_BYTES_MAX / 4;

async function readScreen(
  { keepers, lifecycle, sessionsDirectory }: SessionScene,
  row: SessionRow,
  { sessionId, scrollback }: Params<'session.readScreen'>,
): Promise<Result<'session.readScreen'>> {
  if (row.transport !== 'pty') throw new FailureError('unsupported-transport', { sessionId });
  if (isLive(row)) {
    const link = keepers.get(row.keeper_id);
    if (link === null) throw new FailureError('keeper-unavailable', { sessionId });
    try {
      const screen = await link.call('readScreen', { sessionId, scrollback });
      return bounded({ ...screen, lines: [...screen.lines] });
    } catch (error) {
      // It may have ended, been stored and been released meanwhile.
      if (!(error instanceof FailureError) || error.failure.code !== 'unknown-session') throw error;
      await lifecycle.settle(sessionId);
    }
  }
  const kept = await readFinalScreen(join(sessionsDirectory, sessionId));
  if (kept === null) throw new FailureError('output-gone', { sessionId });
  return bounded({ ...kept, ...lastLines(kept, scrollback), cursor: null });
}

/** Drops the oldest lines of what would not fit into one frame. */
function bounded(screen: Result<'session.readScreen'>): Result<'session.readScreen'> {
  let characters = 0;
  const from =
    screen.lines.findLastIndex((line) => (characters += line.length + 1) > SCREEN_CHARACTERS_MAX) + 1;
  return from === 0 ? screen : { ...screen, lines: screen.lines.slice(from), truncated: true };
}

// Reports that agents' hooks leave in their sessions' directories: taken in the order in which they were written, each once, and
// gone afterwards. What is left while no node runs waits; what is too large, no JSON, or too much is dropped with a word in the log.
import { mkdirSync, readdirSync, rmSync, statSync, watch, type FSWatcher } from 'node:fs';
import { join } from 'node:path';
import type { AgentEvent, Session, SessionId } from '@roost/protocol';
import {
  findProvider,
  REPORT_BYTES_MAX,
  REPORT_SUFFIX,
  REPORTS_DIRECTORY,
  type ProviderHooks,
} from '@roost/providers';
import { type Log, systemErrorCode } from '@roost/storage';
import { readSmallFile } from '../read-small-file.ts';
import { isLive, listSessions } from '../sessions/session-table.ts';
import type { Store } from '../store/store.ts';

/** Reports of one session that are taken at once: more than any agent makes while a node restarts. */
const WAITING_MAX = 1_000;

interface ReportsOptions {
  readonly store: Store;
  /** Directory of the sessions' own directories. */
  readonly sessionsDirectory: string;
  readonly heard: (sessionId: SessionId, event: AgentEvent) => void;
  readonly log: Log;
}

export function reportsDirectory(sessionsDirectory: string, sessionId: string): string {
  return join(sessionsDirectory, sessionId, REPORTS_DIRECTORY);
}

/** Before the program starts: its first hook may come at once. */
export function makeReportsDirectory(sessionsDirectory: string, sessionId: string): void {
  mkdirSync(reportsDirectory(sessionsDirectory, sessionId), { recursive: true, mode: 0o700 });
}

export class Reports {
  readonly #options: ReportsOptions;
  readonly #watchers = new Map<SessionId, FSWatcher>();
  readonly #stopListening: () => void;

  constructor(options: ReportsOptions) {
    this.#options = options;
    this.#stopListening = options.store.onEvent(({ body }) => {
      if (body.kind === 'session-removed') this.#leave(body.sessionId);
      if (body.kind === 'session-changed') this.#sessionChanged(body.session);
    });
  }

  /** Sessions that live already. */
  begin(): void {
    for (const row of listSessions(this.#options.store.sql, false, -1)) this.#follow(row);
  }

  close(): void {
    this.#stopListening();
    for (const sessionId of [...this.#watchers.keys()]) this.#leave(sessionId);
  }

  #sessionChanged(session: Session): void {
    if (session.status === 'running') this.#follow(session);
    else if (!isLive(session)) {
      const hooks = hooksOf(session);
      if (hooks !== null) this.#take(session.id, hooks);
      this.#leave(session.id);
    }
  }

  #follow(session: Reporting): void {
    const { id: sessionId } = session;
    const hooks = hooksOf(session);
    if (hooks === null || this.#watchers.has(sessionId)) return;
    const directory = reportsDirectory(this.#options.sessionsDirectory, sessionId);
    try {
      const watcher = watch(directory, (_kind, name) => {
        if (name?.endsWith(REPORT_SUFFIX) === true) this.#take(sessionId, hooks);
      });
      watcher.on('error', (error) => {
        this.#options.log.warn({ sessionId, err: error }, 'reports are not heard any more');
        this.#leave(sessionId);
      });
      this.#watchers.set(sessionId, watcher);
    } catch (error) {
      // A session of before, or one that was started without hooks.
      if (systemErrorCode(error) !== 'ENOENT')
        this.#options.log.warn({ sessionId, err: error }, 'reports cannot be heard');
      return;
    }
    this.#take(sessionId, hooks);
  }

  #leave(sessionId: SessionId): void {
    this.#watchers.get(sessionId)?.close();
    this.#watchers.delete(sessionId);
  }

  #take(sessionId: SessionId, hooks: ProviderHooks): void {
    const { log, heard } = this.#options;
    const directory = reportsDirectory(this.#options.sessionsDirectory, sessionId);
    for (const path of waiting(directory)) {
      const file = readSmallFile(path, REPORT_BYTES_MAX);
      rmSync(path, { force: true, recursive: true });
      if ('fault' in file) {
        log.warn({ sessionId, fault: file.fault }, 'a report of a hook was dropped');
        continue;
      }
      for (const event of hooks.read(parsed(file.content))) heard(sessionId, event);
    }
  }
}

type Reporting = Pick<Session, 'id' | 'provider' | 'transport'>;

function hooksOf({ provider, transport }: Reporting): ProviderHooks | null {
  return transport === 'pty' ? (findProvider(provider)?.hooks ?? null) : null;
}

/**
 * In the order in which they were completed; within one tick of the file system's clock, in that of the processes that wrote them. Of
 * too many, the newest count.
 */
function waiting(directory: string): string[] {
  let names: string[];
  try {
    names = readdirSync(directory).filter((name) => name.endsWith(REPORT_SUFFIX));
  } catch {
    return [];
  }
  const stamped = names.flatMap((name) => {
    const path = join(directory, name);
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? [] : [{ path, at: stats.mtimeNs, writer: Number.parseInt(name, 10) }];
  });
  stamped.sort((one, other) =>
    one.at === other.at ? one.writer - other.writer : one.at < other.at ? -1 : 1,
  );
  for (const { path } of stamped.slice(0, -WAITING_MAX)) rmSync(path, { force: true });
  return stamped.slice(-WAITING_MAX).map(({ path }) => path);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

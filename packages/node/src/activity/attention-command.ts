// The command of this node's person that is run when a session comes to need somebody: to show it on a desktop, on a phone. It gets
// names and codes by its environment, never what an agent said; it is bounded in time, and nobody waits for it.
import type { Session, SessionId } from '@roost/protocol';
import { runCommand } from '../commands/run-command.ts';
import type { Log } from '@roost/storage';
import { listSessions, storedView } from '../sessions/session-table.ts';
import type { Store } from '../store/store.ts';

/** Milliseconds after which it is ended. */
const TIMEOUT_MS = 10_000;
/** At a time; what comes meanwhile is not shown, and stands in the list of those that wait. */
const RUNNING_MAX = 4;

/** What a program needs to reach the desktop of its person. */
const INHERITED = [
  'PATH',
  'HOME',
  'LANG',
  'USER',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XAUTHORITY',
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
] as const;

interface AttentionCommandOptions {
  readonly store: Store;
  /** Program and arguments. */
  readonly command: readonly string[];
  readonly home: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
}

export class AttentionCommand {
  readonly #options: AttentionCommandOptions;
  /** Since when each session needs somebody. */
  readonly #needs = new Map<SessionId, string>();
  readonly #stopListening: () => void;
  readonly #abort = new AbortController();
  #running = 0;

  constructor(options: AttentionCommandOptions) {
    const { store } = options;
    this.#options = options;
    // What waited before is no news.
    for (const row of listSessions(store.sql, false, -1)) this.#isNews(storedView(row));
    this.#stopListening = store.onEvent(({ body }) => {
      if (body.kind === 'session-removed') this.#needs.delete(body.sessionId);
      if (body.kind === 'session-changed' && this.#isNews(body.session)) this.#run(body.session);
    });
  }

  close(): void {
    this.#stopListening();
    this.#abort.abort();
  }

  #isNews({ id, activity = null }: Session): boolean {
    if (activity?.state !== 'blocked' && activity?.state !== 'done') {
      this.#needs.delete(id);
      return false;
    }
    const isNews = this.#needs.get(id) !== activity.since;
    this.#needs.set(id, activity.since);
    return isNews;
  }

  #run({ id, name, provider, workspaceId, activity = null }: Session): void {
    const { command, home, environment, log } = this.#options;
    const [program = '', ...args] = command;
    if (this.#running >= RUNNING_MAX) return;
    this.#running += 1;
    const inherited = INHERITED.flatMap((key) => {
      const value = environment[key];
      return value === undefined ? [] : [[key, value] as const];
    });
    void runCommand({
      program,
      args,
      directory: home,
      environment: {
        ...Object.fromEntries(inherited),
        ROOST_HOME: home,
        ROOST_SESSION_ID: id,
        ROOST_SESSION_NAME: name,
        ROOST_PROVIDER: provider,
        ROOST_WORKSPACE: workspaceId,
        ROOST_STATE: activity?.state ?? '',
        ROOST_REASON: activity?.reason ?? '',
        ROOST_DETAIL: activity?.detail ?? '',
      },
      timeoutMs: TIMEOUT_MS,
      stdoutBytesMax: 0,
      stderrBytesMax: 4_096,
      beyondStdout: 'drop',
      signal: this.#abort.signal,
    }).then(({ exitCode, startError, timedOut, stderr }) => {
      this.#running -= 1;
      if (exitCode !== 0 && !this.#abort.signal.aborted)
        log.warn(
          { exitCode, startError, timedOut, stderr: stderr.toString() },
          'the attention command failed',
        );
    });
  }
}

import { freshName } from './context.ts';
import type { Subject } from './subjects/subject.ts';
import { Terminal } from './terminal.ts';

/** What a child prints once it is up; part of the screen that a client is shown, whenever it attaches. */
export const READY = 'READY-5b1f';

/** A session with one real client attached, shown to be ready. */
export interface ViewedSession {
  readonly terminal: Terminal;
  /** Ends the client, then the session. */
  close(): Promise<void>;
}

/** `command` must print `READY`. */
export async function openViewedSession(
  subject: Subject,
  command: readonly string[],
): Promise<ViewedSession> {
  const name = freshName();
  const terminal = Terminal.open(await subject.openSession(name, command));
  await terminal.until(READY);
  return {
    terminal,
    close: async () => {
      await terminal.close();
      await subject.closeSession(name);
    },
  };
}

/** Says that it is ready, waits for the gate, prints the files, stays. */
export function printingCommand(gate: string, files: readonly string[]): string[] {
  const script = 'printf %s "$1"; read -r go < "$2"; shift 2; cat "$@"; exec sleep 100000';
  return ['/bin/sh', '-c', script, 'sh', READY, gate, ...files];
}

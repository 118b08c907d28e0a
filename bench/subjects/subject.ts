import type { Launch } from '../terminal.ts';

export type SubjectName = 'bare' | 'tmux' | 'roost';

/**
 * One way to run a program in a terminal. Sections ask every subject for the same things in the same order; what a
 * subject cannot do by its nature is said with `durable`.
 */
export interface Subject {
  readonly name: SubjectName;
  /** Sessions outlive their clients: there is a server side to attach to, to list and to weigh. */
  readonly durable: boolean;
  /** Starts the server side, without sessions. */
  prepare(): Promise<void>;
  /** Starts `command` as a session and answers how to start a client that shows it. */
  openSession(name: string, command: readonly string[]): Promise<Launch>;
  /** One client invocation that starts `command` as a session and shows it. */
  runLaunch(name: string, command: readonly string[]): Launch;
  /** Ends a session and waits until it is gone. */
  closeSession(name: string): Promise<void>;
  /** Ends everything that this subject started. Never throws; may be called at any time, and again. */
  teardown(): Promise<void>;
}

export interface DurableSubject extends Subject {
  readonly durable: true;
  /** One client invocation that starts `command` as a session and returns. */
  detachedLaunch(name: string, command: readonly string[]): Launch;
  /** One client invocation that lists the sessions. */
  listLaunch(): Launch;
  /** Process ids of the server side, children of sessions not included. */
  serverProcesses(): Promise<readonly number[]>;
}

export function isDurable(subject: Subject): subject is DurableSubject {
  return subject.durable;
}

/** The same small environment for every subject: nothing of the caller's configuration takes part. */
export function plainEnvironment(home: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
    HOME: home,
    SHELL: '/bin/sh',
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    COLORTERM: 'truecolor',
  };
}

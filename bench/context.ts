import { type DurableSubject, isDurable, type Subject } from './subjects/subject.ts';

/** How much of everything is measured. */
export interface Scale {
  readonly repetitions: number;
  /** Of what takes long: several sessions at once, floods. */
  readonly longRepetitions: number;
  readonly plainBytes: number;
  readonly colourBytes: number;
  readonly parallelSessions: readonly number[];
  readonly keystrokes: number;
  readonly floodBytes: number;
  readonly startRuns: number;
  readonly idleSessions: readonly number[];
  readonly fullHistorySessions: number;
  /** Milliseconds until start-up work and garbage collection count as over, before memory is read. */
  readonly settleMs: number;
  readonly restartSessions: number;
  readonly historyBytes: number;
  readonly attachRuns: number;
  readonly snapshotRecords: number;
  readonly snapshotSessions: number;
  readonly snapshots: number;
  readonly fanOutEvents: number;
  readonly interrupts: number;
  readonly gitFiles: number;
  readonly gitReads: number;
  readonly repositoryFiles: number;
  readonly inspections: number;
  readonly worktrees: number;
  /** Of looking at the worktrees. */
  readonly lookSeconds: number;
  /** Sessions that an agent keeps, and how often they are listed. */
  readonly keptSessions: number;
  readonly keptLists: number;
  /** Lines of one turn of an agent that is spoken with, and turns. */
  readonly spokenLines: number;
  readonly spokenRounds: number;
  readonly hubNodes: number;
  readonly hubLists: number;
  readonly hubClients: number;
  /** Events of a steady pace, and as many at once. */
  readonly hubEvents: number;
  readonly hubRestSeconds: number;
  readonly hubKeystrokes: number;
  readonly boardSessions: number;
  readonly boardViews: number;
}

const MB = 1_000_000;

export const FULL: Scale = {
  repetitions: 3,
  longRepetitions: 2,
  plainBytes: 50 * MB,
  colourBytes: 15 * MB,
  parallelSessions: [1, 8],
  keystrokes: 1000,
  floodBytes: 300 * MB,
  startRuns: 20,
  idleSessions: [1, 20, 100],
  fullHistorySessions: 20,
  settleMs: 2000,
  restartSessions: 100,
  historyBytes: 100 * MB,
  attachRuns: 10,
  snapshotRecords: 1000,
  snapshotSessions: 100,
  snapshots: 1000,
  fanOutEvents: 100_000,
  interrupts: 500,
  gitFiles: 100_000,
  gitReads: 30,
  repositoryFiles: 100_000,
  inspections: 40,
  worktrees: 50,
  lookSeconds: 60,
  keptSessions: 10_000,
  keptLists: 20,
  spokenLines: 50_000,
  spokenRounds: 5,
  hubNodes: 1_000,
  hubLists: 500,
  hubClients: 100,
  hubEvents: 4_000,
  hubRestSeconds: 20,
  hubKeystrokes: 2_000,
  boardSessions: 20,
  boardViews: 10,
};

/** Enough to see that everything works; its numbers mean little. */
export const QUICK: Scale = {
  repetitions: 1,
  longRepetitions: 1,
  plainBytes: 1 * MB,
  colourBytes: 0.5 * MB,
  parallelSessions: [1, 2],
  keystrokes: 20,
  floodBytes: 2 * MB,
  startRuns: 1,
  idleSessions: [1, 2],
  fullHistorySessions: 2,
  settleMs: 50,
  restartSessions: 2,
  historyBytes: 2 * MB,
  attachRuns: 1,
  snapshotRecords: 50,
  snapshotSessions: 4,
  snapshots: 10,
  fanOutEvents: 500,
  interrupts: 5,
  gitFiles: 200,
  gitReads: 2,
  repositoryFiles: 200,
  inspections: 2,
  worktrees: 2,
  lookSeconds: 1,
  keptSessions: 50,
  keptLists: 1,
  spokenLines: 2_000,
  spokenRounds: 2,
  hubNodes: 5,
  hubLists: 5,
  hubClients: 5,
  hubEvents: 20,
  hubRestSeconds: 0.3,
  hubKeystrokes: 20,
  boardSessions: 2,
  boardViews: 1,
};

/** What a section works with. Subjects are freshly prepared when it starts, and torn down with all sessions after it. */
export interface Context {
  readonly scale: Scale;
  readonly subjects: readonly Subject[];
  /** Directory for files of the sections; removed at the end. */
  readonly scratch: string;
  /** Path of this program, to start helper processes from. */
  readonly program: string;
  readonly progress: (line: string) => void;
}

export function durableSubjects(context: Context): DurableSubject[] {
  return context.subjects.filter((subject) => isDurable(subject));
}

let counter = 0;

/** A session name that was not used before in this run. */
export function freshName(): string {
  counter += 1;
  return `bench-${counter}`;
}

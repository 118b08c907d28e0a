/**
 * Ends a set of processes that may grow while it is being ended: ask politely, wait, then force, until a fresh look
 * finds nothing. A signal goes only to a process whose pid and start were confirmed in the same synchronous step.
 * Nothing here blocks for longer than one look at the process table.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { isZombie, sameProcess, type ProcessEntry, type ProcessTable } from './process-entry.ts';
import { readProcessTable } from './table.ts';

export interface EndOutcome {
  /** Processes that were found and are gone. */
  readonly ended: number;
  /** Whether any had to be killed. */
  readonly forced: boolean;
  /** Still there: not ours to signal, or stuck in the kernel. */
  readonly survivors: ProcessEntry[];
}

interface EndClock {
  now(): number;
  sleep(ms: number): Promise<void>;
}

export interface EndOptions {
  /** A fresh look at what is to be ended. */
  readonly find: () => ProcessEntry[];
  /** Time between asking and forcing; 0 forces at once. */
  readonly graceMs: number;
  /** Sent in this order to each process, once; SIGCONT follows, so that a stopped one sees them. */
  readonly politeSignals: readonly NodeJS.Signals[];
  readonly clock?: EndClock;
  readonly signal?: (pid: number, signal: NodeJS.Signals) => void;
  /** What runs under these pids now. */
  readonly identify?: (pids: readonly number[]) => ProcessTable;
}

const POLL_MS_FIRST = 20;
const POLL_MS_MAX = 100;
/** While those known are still there, new ones are looked for at this interval. */
const LOOK_INTERVAL_MS = 250;
/** Milliseconds before each further look that a look which found nothing wants. */
const EMPTY_AGAIN_MS = [1, 5];
const FORCE_POLL_MS_FIRST = 2;
const FORCE_POLL_MS_MAX = 50;
/** How long killing is repeated against processes that keep starting new ones. */
const FORCE_MS_MAX = 3_000;

const systemClock: EndClock = {
  now: () => performance.now(),
  sleep: (ms) => delay(ms),
};

export async function endProcesses(options: EndOptions): Promise<EndOutcome> {
  const ending = new Ending(options);
  await ending.politely(options.graceMs, options.politeSignals);
  return ending.byForce();
}

const identity = (entry: ProcessEntry) => `${entry.pid}:${entry.start}`;

class Ending {
  readonly #find: () => ProcessEntry[];
  readonly #clock: EndClock;
  readonly #signal: (pid: number, signal: NodeJS.Signals) => void;
  readonly #identify: (pids: readonly number[]) => ProcessTable;
  readonly #seen = new Set<string>();
  readonly #asked = new Set<string>();
  readonly #denied = new Set<string>();
  #present: ProcessEntry[] = [];
  #lookedAt = 0;

  constructor(options: EndOptions) {
    this.#find = options.find;
    this.#clock = options.clock ?? systemClock;
    this.#signal = options.signal ?? ((pid, signal) => process.kill(pid, signal));
    this.#identify = options.identify ?? readProcessTable;
  }

  async politely(graceMs: number, signals: readonly NodeJS.Signals[]): Promise<void> {
    const deadline = this.#clock.now() + graceMs;
    const sequence = [...signals.filter((signal) => signal !== 'SIGCONT'), 'SIGCONT' as const];
    let pause = POLL_MS_FIRST;
    await this.#look();
    while (this.#present.length > 0) {
      const left = deadline - this.#clock.now();
      if (left <= 0) return;
      this.#send(
        this.#present.filter((entry) => !this.#asked.has(identity(entry))),
        sequence,
      );
      await this.#clock.sleep(Math.min(pause, left));
      pause = Math.min(pause * 1.5, POLL_MS_MAX);
      this.#present = this.#stillThere();
      if (this.#present.length === 0 || this.#clock.now() - this.#lookedAt >= LOOK_INTERVAL_MS)
        await this.#look();
    }
  }

  async byForce(): Promise<EndOutcome> {
    const deadline = this.#clock.now() + FORCE_MS_MAX;
    let pause = FORCE_POLL_MS_FIRST;
    let forced = false;
    while (this.#present.length > 0 && this.#clock.now() < deadline) {
      if (this.#send(this.#present, ['SIGKILL']) > 0) forced = true;
      await this.#clock.sleep(pause);
      pause = Math.min(pause * 1.5, FORCE_POLL_MS_MAX);
      await this.#look();
      if (this.#present.every((entry) => this.#denied.has(identity(entry)))) break;
    }
    const survivors = this.#present;
    return { ended: this.#seen.size - survivors.length, forced, survivors };
  }

  /**
   * An empty look is taken again: one that forks and ends between listing and reading hides its child, and so does one that becomes
   * another program just then, which on a busy machine takes longer than the first pause.
   */
  async #look(): Promise<void> {
    this.#present = this.#find();
    for (const pause of EMPTY_AGAIN_MS) {
      if (this.#present.length > 0) break;
      await this.#clock.sleep(pause);
      this.#present = this.#find();
    }
    this.#lookedAt = this.#clock.now();
    for (const entry of this.#present) this.#seen.add(identity(entry));
  }

  #stillThere(): ProcessEntry[] {
    const table = this.#identify(this.#present.map((entry) => entry.pid));
    return this.#present.filter((entry) => {
      const now = table.get(entry.pid);
      return now !== undefined && sameProcess(now, entry) && !isZombie(now);
    });
  }

  /** How many were reached. */
  #send(targets: readonly ProcessEntry[], signals: readonly NodeJS.Signals[]): number {
    const table = this.#identify(targets.map((entry) => entry.pid));
    let reached = 0;
    for (const entry of targets) {
      this.#asked.add(identity(entry));
      if (sameProcess(table.get(entry.pid), entry) && this.#sendAll(entry, signals)) reached += 1;
    }
    return reached;
  }

  #sendAll(entry: ProcessEntry, signals: readonly NodeJS.Signals[]): boolean {
    try {
      for (const signal of signals) this.#signal(entry.pid, signal);
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EPERM') this.#denied.add(identity(entry));
      else if (code !== 'ESRCH') throw error;
      return false;
    }
  }
}

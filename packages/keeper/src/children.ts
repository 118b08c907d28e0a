/**
 * The children of this keeper by session id, live and ended: an ended one is kept, with its screen, until the node has
 * taken its exit record (`release`).
 */
import type { FailureCode } from '@roost/protocol';
import { prepareInput, type InputRequest } from './input-preparation.ts';
import { InputClosed, InputStalled } from './input-queue.ts';
import { PipeChild } from './pipe-child.ts';
import { endProcesses, processStart, SESSION_MARKER, sessionMembers } from './processes/index.ts';
import type { ScreenPump } from './screen-pump.ts';
import { TerminalChild } from './terminal-child.ts';
import type {
  ChildExit,
  ChildLaunch,
  ChildState,
  KeeperCalls,
  PipeStream,
  ScreenFrame,
  ScreenText,
} from './wire.ts';

/** Milliseconds between two reports of a child's title, size or clients. */
const REPORT_INTERVAL_MS = 100;

/** An expected refusal. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly code: FailureCode;
  readonly details: Record<string, unknown>;
  constructor(code: FailureCode, details: Record<string, unknown> = {}) {
    super(code);
    this.code = code;
    this.details = details;
  }
}

export interface ChildrenListener {
  changed(state: ChildState): void;
  output(sessionId: string, stream: PipeStream): void;
}

type Runtime = { kind: 'pty'; child: TerminalChild } | { kind: 'pipe'; child: PipeChild };

interface Held {
  readonly launch: ChildLaunch;
  readonly runtime: Runtime;
  readonly processStart: string;
  readonly startedAt: number;
  exit: ChildExit | null;
  revision: number;
  reportTimer: NodeJS.Timeout | null;
  /** Settles when the child has ended and its output is complete. */
  readonly ended: Promise<void>;
}

export class Children {
  readonly #held = new Map<string, Held>();
  readonly #starting = new Map<string, Promise<ChildState>>();
  readonly #pump: ScreenPump;
  readonly #listener: ChildrenListener;

  constructor(pump: ScreenPump, listener: ChildrenListener) {
    this.#pump = pump;
    this.#listener = listener;
  }

  get count(): number {
    return this.#held.size + this.#starting.size;
  }

  get attachments(): number {
    let sum = 0;
    for (const { runtime } of this.#held.values())
      if (runtime.kind === 'pty') sum += runtime.child.attachedClients;
    return sum;
  }

  list(): ChildState[] {
    return [...this.#held.values()].map(stateOf);
  }

  /** With what is being started now: by this list a node tells what never came to run. */
  async settledList(): Promise<ChildState[]> {
    await Promise.allSettled(this.#starting.values());
    return this.list();
  }

  /** null when it is not held. */
  state(sessionId: string): ChildState | null {
    const held = this.#held.get(sessionId);
    return held === undefined ? null : stateOf(held);
  }

  async spawn(launch: ChildLaunch): Promise<ChildState> {
    const held = this.#held.get(launch.sessionId);
    if (held !== undefined) return stateOf(held);
    let starting = this.#starting.get(launch.sessionId);
    if (starting === undefined) {
      starting = this.#start(launch).finally(() => this.#starting.delete(launch.sessionId));
      this.#starting.set(launch.sessionId, starting);
    }
    return starting;
  }

  async #start(launch: ChildLaunch): Promise<ChildState> {
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const report = (how: 'now' | 'soon') => {
      const held = this.#held.get(launch.sessionId);
      if (held !== undefined) this.#report(held, how);
    };
    // An exit can be told before the row is in the map: it is kept here and told after.
    let early: ChildExit | null = null;
    const onEnded = (exit: ChildExit) => {
      early = exit;
      const held = this.#held.get(launch.sessionId);
      if (held !== undefined) held.exit = exit;
      end();
      report('now');
    };
    const environment: Record<string, string> = { ...launch.environment, [SESSION_MARKER]: launch.sessionId };
    let runtime: Runtime;
    try {
      if (launch.transport === 'pty') {
        Object.assign(environment, { TERM: 'xterm-256color', COLORTERM: 'truecolor' });
        const events = { changed: () => report('soon'), ended: onEnded };
        runtime = { kind: 'pty', child: new TerminalChild(launch, environment, this.#pump, events) };
      } else {
        const output = (stream: PipeStream) => {
          this.#listener.output(launch.sessionId, stream);
        };
        runtime = {
          kind: 'pipe',
          child: await PipeChild.start(launch, environment, { output, ended: onEnded }),
        };
      }
    } catch (error) {
      throw new Refused('spawn-failed', { reason: (error as NodeJS.ErrnoException).code ?? 'unknown' });
    }
    const held: Held = {
      launch: { ...launch, environment: {} },
      runtime,
      processStart: processStart(runtime.child.pid) ?? '',
      startedAt: Date.now(),
      exit: early,
      revision: 0,
      reportTimer: null,
      ended,
    };
    this.#held.set(launch.sessionId, held);
    return stateOf(held);
  }

  async input(sessionId: string, request: InputRequest): Promise<{ bytesWritten: number }> {
    const { runtime, exit } = this.#get(sessionId);
    if (exit !== null) throw new Refused('session-not-running');
    const bracketedPaste = runtime.kind === 'pty' && runtime.child.bracketedPaste;
    const prepared = prepareInput(request, { transport: runtime.kind, bracketedPaste });
    if (prepared.kind === 'refused') throw new Refused(prepared.code, prepared.details);
    try {
      const queue = runtime.kind === 'pty' ? runtime.child.input : runtime.child;
      return { bytesWritten: await queue.submit(prepared.writes) };
    } catch (error) {
      if (error instanceof InputStalled)
        throw new Refused('input-stalled', { bytesWritten: error.bytesWritten });
      if (error instanceof InputClosed) throw new Refused('session-not-running');
      throw error;
    }
  }

  resize(sessionId: string, columns: number, rows: number): void {
    this.terminal(sessionId).resize(columns, rows);
  }

  interrupt(sessionId: string): void {
    const { runtime, exit } = this.#get(sessionId);
    if (exit !== null) throw new Refused('session-not-running');
    runtime.child.interrupt();
  }

  async stop(sessionId: string, graceMs: number): Promise<KeeperCalls['stop']['result']> {
    const held = this.#get(sessionId);
    const rootPid = held.runtime.child.pid;
    const outcome = await endProcesses({
      find: () => sessionMembers({ rootPid, rootStart: held.processStart, sessionId, thorough: true }),
      graceMs,
      politeSignals: held.runtime.kind === 'pty' ? ['SIGTERM', 'SIGHUP', 'SIGCONT'] : ['SIGTERM', 'SIGCONT'],
    });
    if (outcome.survivors.length > 0)
      throw new Refused('stop-incomplete', { pids: outcome.survivors.map(({ pid }) => String(pid)) });
    await held.ended;
    return { state: stateOf(held), forced: outcome.forced, processesEnded: outcome.ended };
  }

  readScreen(sessionId: string, scrollback: number): ScreenText {
    const { runtime } = this.#get(sessionId);
    if (runtime.kind !== 'pty') throw new Refused('unsupported-transport');
    return runtime.child.readText(scrollback);
  }

  /** The screen when it is newer than `after`, or when the child has ended. */
  async nextFrame(sessionId: string, after: number): Promise<ScreenFrame> {
    const held = this.#get(sessionId);
    if (held.runtime.kind !== 'pty') throw new Refused('unsupported-transport');
    const { child } = held.runtime;
    if (held.exit === null) await child.frames.newerThan(after);
    if (this.#held.get(sessionId) !== held) throw new Refused('unknown-session');
    return { ...child.frame(), ended: held.exit !== null };
  }

  pipe(sessionId: string): PipeChild {
    const { runtime } = this.#get(sessionId);
    if (runtime.kind !== 'pipe') throw new Refused('unsupported-transport');
    return runtime.child;
  }

  /** A running child with a terminal. */
  terminal(sessionId: string): TerminalChild {
    const { runtime, exit } = this.#get(sessionId);
    if (runtime.kind !== 'pty') throw new Refused('unsupported-transport');
    if (exit !== null) throw new Refused('session-not-running');
    return runtime.child;
  }

  release(sessionId: string): void {
    const held = this.#held.get(sessionId);
    if (held === undefined) return;
    if (held.exit === null) throw new Refused('session-running');
    if (held.reportTimer !== null) clearTimeout(held.reportTimer);
    held.runtime.child.dispose();
    this.#held.delete(sessionId);
  }

  #get(sessionId: string): Held {
    const held = this.#held.get(sessionId);
    if (held === undefined) throw new Refused('unknown-session');
    return held;
  }

  #report(held: Held, how: 'now' | 'soon'): void {
    if (how === 'now') {
      if (held.reportTimer !== null) clearTimeout(held.reportTimer);
      held.reportTimer = null;
      held.revision += 1;
      this.#listener.changed(stateOf(held));
      return;
    }
    if (held.exit !== null) return;
    held.reportTimer ??= setTimeout(() => {
      this.#report(held, 'now');
    }, REPORT_INTERVAL_MS);
  }
}

function stateOf(held: Held): ChildState {
  const { launch, runtime, processStart: start, startedAt, exit, revision } = held;
  return {
    sessionId: launch.sessionId,
    revision,
    transport: launch.transport,
    pid: runtime.child.pid,
    processStart: start,
    startedAt,
    size: runtime.kind === 'pty' ? runtime.child.size : null,
    title: runtime.kind === 'pty' ? runtime.child.title : null,
    attachedClients: runtime.kind === 'pty' ? runtime.child.attachedClients : 0,
    note: launch.note,
    exit,
    output: runtime.kind === 'pipe' ? outputOf(runtime.child) : null,
    ...(runtime.kind === 'pipe' ? { inputEnd: runtime.child.inputEnd } : {}),
  };
}

function outputOf({ streams }: PipeChild): ChildState['output'] {
  const { stdout, stderr } = streams;
  return {
    stdout: { floor: stdout.floor, end: stdout.end },
    stderr: { floor: stderr.floor, end: stderr.end },
  };
}

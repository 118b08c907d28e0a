// Carries out one step. What differs between a terminal and a pipe is behind `Surface`.
import { setTimeout as delay } from 'node:timers/promises';
import { spawnDescendants } from './descendants.ts';
import { floodBlocks } from './flood.ts';
import type { Journal } from './journal.ts';
import type { QueryLedger } from './query-ledger.ts';
import type { Settings } from './scenario.ts';
import type { Step } from './steps.ts';

interface Surface {
  readonly isBroken: boolean;
  /** One line of text. */
  say: (text: string) => Promise<void>;
  /** Bytes as they are. */
  raw: (data: string | Buffer) => Promise<void>;
  setReading: (on: boolean) => void;
  /** Puts the terminal back as it was found. */
  restore: () => Promise<void>;
}

export interface Performer {
  settings: Settings;
  surface: Surface;
  journal: Journal;
  queries: QueryLedger;
}

const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** Ends early, without an error, when the signal aborts. */
export async function perform(step: Step, performer: Performer, signal: AbortSignal): Promise<void> {
  const { settings, surface, journal, queries } = performer;
  switch (step.do) {
    case 'write':
      return surface.raw(step.text);
    case 'say':
      return surface.say(step.text);
    case 'lines':
      return printLines(step.count, step.interval, surface, signal);
    case 'flood':
      for (const block of floodBlocks(step.bytes, step.kind)) {
        if (signal.aborted || surface.isBroken) return;
        await surface.raw(block);
      }
      return;
    case 'wait':
      return pause(step.ms, signal);
    case 'spinner':
      return spin(step.ms, step.interval, surface, signal);
    case 'title':
      return surface.raw(`\x1b]0;${step.text}\x07`);
    case 'windowTitle':
      return surface.raw(`\x1b]2;${step.text}\x1b\\`);
    case 'osc9':
      return surface.raw(`\x1b]9;${step.text}\x07`);
    case 'osc777':
      return surface.raw(`\x1b]777;notify;${step.title};${step.body}\x07`);
    case 'osc133':
      return surface.raw(`\x1b]133;${step.mark}\x07`);
    case 'bell':
      return surface.raw('\x07');
    case 'mode':
      return surface.raw(`\x1b[?${step.number}${step.on === 0 ? 'l' : 'h'}`);
    case 'query': {
      await surface.raw(queries.ask(step.kinds));
      // The whole time, not until the first answer: a second one must be seen too.
      await pause(step.ms, signal);
      const counts = queries.counts();
      journal.note('answers', counts);
      const shown = Object.entries(counts).map(([kind, count]) => `${kind}=${count}`);
      return surface.say(`answers ${shown.join(' ')}`);
    }
    case 'spawn': {
      const { spawnIgnore: ignoreSignals, spawnStdio: stdio } = settings;
      const pids = await spawnDescendants({ count: step.count, kind: step.kind, ignoreSignals, stdio });
      journal.note('descendants', { kind: step.kind, pids });
      return surface.say(`descendants ${JSON.stringify({ kind: step.kind, pids })}`);
    }
    case 'reading':
      surface.setReading(step.on !== 0);
      return;
    case 'size':
      return surface.say(`size ${process.stdout.columns}x${process.stdout.rows}`);
    case 'pid':
      return surface.say(`pid ${process.pid}`);
    case 'env':
      return surface.say(`env ${step.name}=${process.env[step.name] ?? '(unset)'}`);
    case 'exit':
      return leave(step.code, performer);
    case 'kill':
      journal.note('kill', { signal: step.signal });
      process.kill(process.pid, step.signal);
      // A signal that kills does so before the next step; one that is ignored lets the scenario go on.
      return pause(50, signal);
  }
}

/** Exits with the code; the terminal is put back first, unless it is stuck. */
export async function leave(code: number, { settings, surface, journal }: Performer): Promise<never> {
  journal.note('exit', { code });
  if (!settings.dirtyExit) await Promise.race([surface.restore(), delay(500)]);
  process.exit(code);
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}

async function printLines(
  count: number,
  interval: number,
  surface: Surface,
  signal: AbortSignal,
): Promise<void> {
  for (let line = 1; (count === 0 || line <= count) && !signal.aborted && !surface.isBroken; line++) {
    await surface.say(`line ${String(line).padStart(6, '0')}`);
    if (interval > 0) await pause(interval, signal);
  }
}

/** 0 ms spins until it is interrupted. */
async function spin(ms: number, interval: number, surface: Surface, signal: AbortSignal): Promise<void> {
  const startedAt = performance.now();
  for (let frame = 0; !signal.aborted && !surface.isBroken; frame++) {
    const passed = performance.now() - startedAt;
    if (ms > 0 && passed >= ms) break;
    const glyph = SPINNER[frame % SPINNER.length] ?? '';
    await surface.raw(`\r\x1b[2K${glyph} Working… (${Math.floor(passed / 1000)}s · esc to interrupt)`);
    await pause(interval, signal);
  }
  await surface.raw('\r\x1b[2K');
}

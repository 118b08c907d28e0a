/**
 * A process that shows one session and reads what comes, so that reading a flood does not delay the measuring process.
 * Started with the message `DrainOrder`, answers `ready`, then `end` once the marker has been seen.
 */
import { fork } from 'node:child_process';
import { READY } from './viewed-session.ts';
import { Terminal, type Launch } from './terminal.ts';

interface DrainOrder {
  readonly launch: Launch;
  readonly end: string;
}

export interface Drain {
  /** Resolves when the marker has been seen. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** Starts a drain and waits until it shows the session. */
export async function startDrain(program: string, order: DrainOrder): Promise<Drain> {
  const child = fork(program, ['--drain'], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const said = (word: string) =>
    new Promise<void>((resolve, reject) => {
      child.on('message', (message) => {
        if (message === word) resolve();
      });
      child.once('exit', () => reject(new Error(`the reader of the neighbour ended before it was ${word}`)));
    });
  const ready = said('ready');
  const ended = said('end');
  // Whoever stops early does not wait for the end.
  ended.catch(() => undefined);
  child.send(order);
  await ready;
  return {
    ended,
    close: async () => {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}

export function runDrain(): void {
  process.once('message', (message) => {
    // From our own parent, which sends nothing else.
    const order = message as DrainOrder;
    const terminal = Terminal.open(order.launch);
    process.once('disconnect', () => {
      void terminal.close().then(() => process.exit(0));
    });
    void (async () => {
      await terminal.until(READY);
      process.send?.('ready');
      await terminal.until(order.end);
      process.send?.('end');
    })();
  });
}

/**
 * A node, and a hub beside it, under a service manager or in a terminal: their output is ours, the node's end is ours, and a signal to
 * us is a signal to them. Sessions outlive them here as well.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { hubHomePath, nodeEnvironment, nodeSocketPath, parseReadyLine } from '@roost/client';
import { describeFailure } from './failure-report.ts';

export interface ForegroundOptions {
  readonly home: string;
  readonly script: string;
  /** The hub's program; null for the node alone. */
  readonly hubScript: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly json: boolean;
  readonly onReady: (text: string) => void;
}

const FORWARDED = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Answers the exit code of the command. */
export function runForeground(options: ForegroundOptions): Promise<number> {
  const { home, script, hubScript, env, json, onReady } = options;
  return new Promise((resolve, reject) => {
    // A process group of its own: a Ctrl-C comes once, from us.
    const child = spawn(process.execPath, [script, '--home', home, '--ready-fd', '3'], {
      detached: true,
      env: nodeEnvironment(env),
      stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
    });
    let hub: ChildProcess | null = null;
    const forward = (signal: NodeJS.Signals): void => {
      const told = signal === 'SIGHUP' ? 'SIGTERM' : signal;
      child.kill(told);
      hub?.kill(told);
    };
    for (const signal of FORWARDED) process.on(signal, forward);
    let line = '';
    let refused: Error | undefined;
    const pipe = child.stdio[3] as Readable | null;
    pipe?.setEncoding('utf8').on('data', (chunk: string) => {
      line += chunk;
      if (!line.includes('\n')) return;
      pipe.removeAllListeners('data');
      pipe.resume();
      const outcome = parseReadyLine(line.slice(0, line.indexOf('\n')));
      const socket = nodeSocketPath(home);
      if (outcome !== 'ready') {
        refused = outcome;
        return;
      }
      if (hubScript !== null) {
        // It says itself why it does not serve; the node goes on without it.
        hub = spawn(process.execPath, [hubScript, '--home', hubHomePath(home), '--node-socket', socket], {
          detached: true,
          env: nodeEnvironment(env),
          stdio: ['ignore', 'inherit', 'inherit'],
        });
        hub.on('error', () => undefined);
      }
      if (json) onReady(`${JSON.stringify({ home, socket, pid: child.pid })}\n`);
      else onReady(`listening at ${socket}\n`);
    });
    const finish = (): void => {
      for (const signal of FORWARDED) process.off(signal, forward);
    };
    child.once('error', (error) => {
      finish();
      reject(error);
    });
    child.once('exit', (code) => {
      hub?.kill('SIGTERM');
      finish();
      // The node has said itself why: only the hint is missing.
      const [, hint] = refused === undefined ? [] : describeFailure(refused);
      if (hint !== undefined) process.stderr.write(`${hint}\n`);
      resolve(code === 0 ? 0 : 1);
    });
  });
}

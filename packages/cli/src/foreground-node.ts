/**
 * A node under a service manager or in a terminal: its output is ours, its end is ours, and a signal to us is a signal to
 * it. Sessions outlive it here as well.
 */
import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { nodeEnvironment, nodeSocketPath } from '@roost/client';

export interface ForegroundOptions {
  readonly home: string;
  readonly script: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly json: boolean;
  readonly onReady: (text: string) => void;
}

const FORWARDED = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Answers the exit code of the command. */
export function runForeground(options: ForegroundOptions): Promise<number> {
  const { home, script, env, json, onReady } = options;
  return new Promise((resolve, reject) => {
    // A process group of its own: a Ctrl-C comes once, from us.
    const child = spawn(process.execPath, [script, '--home', home, '--ready-fd', '3'], {
      detached: true,
      env: nodeEnvironment(env),
      stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
    });
    const forward = (signal: NodeJS.Signals): void => {
      child.kill(signal === 'SIGHUP' ? 'SIGTERM' : signal);
    };
    for (const signal of FORWARDED) process.on(signal, forward);
    let line = '';
    const pipe = child.stdio[3] as Readable | null;
    pipe?.setEncoding('utf8').on('data', (chunk: string) => {
      line += chunk;
      if (!line.includes('\n')) return;
      pipe.removeAllListeners('data');
      pipe.resume();
      const ready = line.startsWith('{"ready":true');
      const socket = nodeSocketPath(home);
      if (ready)
        onReady(json ? `${JSON.stringify({ home, socket, pid: child.pid })}\n` : `listening at ${socket}\n`);
      else process.stderr.write(failureText(line));
    });
    const finish = (): void => {
      for (const signal of FORWARDED) process.off(signal, forward);
    };
    child.once('error', (error) => {
      finish();
      reject(error);
    });
    child.once('exit', (code) => {
      finish();
      resolve(code === 0 ? 0 : 1);
    });
  });
}

function failureText(line: string): string {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null && 'failure' in value) {
      const { failure } = value;
      if (typeof failure === 'object' && failure !== null && 'code' in failure && 'message' in failure) {
        return `roost: ${String(failure.code)}: ${String(failure.message)}\n`;
      }
    }
  } catch {
    // Said below.
  }
  return 'roost: node-start-failed: the node said something else than ready\n';
}

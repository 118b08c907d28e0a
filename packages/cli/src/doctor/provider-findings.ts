/** The agent programs that the node finds, with the version that each reports where it is on our PATH, too. */
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { CommandContext } from '../command-context.ts';
import type { Finding } from './examine.ts';

/** Milliseconds; agents that are scripts take a second or two to say their version. */
const VERSION_WAIT_MS = 10_000;

/** Nothing when there is no node to ask: that has been said already. */
export async function* examineProviders(context: CommandContext): AsyncGenerator<Finding, void, void> {
  const providers = await context
    .node()
    .then((connection) => connection.request('provider.list', {}))
    .then(
      (answer) => answer.providers,
      () => [],
    );
  const searchPath = context.terminal.env.PATH ?? '';
  for (const { id, displayName, installed } of providers) {
    const subject = `provider ${id}`.slice(0, 15);
    if (!installed) {
      const text = `${displayName} was not found by the node, which looks in the PATH it was started with`;
      yield { level: 'warn', subject, text };
      continue;
    }
    const path = await findProgram(id, searchPath);
    if (path === undefined) {
      yield { level: 'ok', subject, text: displayName };
      continue;
    }
    const version = await readVersion(path);
    yield version === undefined
      ? { level: 'warn', subject, text: `${path} does not tell its version` }
      : { level: 'ok', subject, text: `${path}, ${version}` };
  }
}

async function findProgram(name: string, searchPath: string): Promise<string | undefined> {
  for (const directory of searchPath.split(delimiter)) {
    if (directory === '') continue;
    const path = join(directory, name);
    const isProgram = await Promise.all([access(path, constants.X_OK), stat(path)]).then(
      ([, found]) => found.isFile(),
      () => false,
    );
    if (isProgram) return path;
  }
  return undefined;
}

function readVersion(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(path, ['--version'], { timeout: VERSION_WAIT_MS, killSignal: 'SIGKILL' }, (error, stdout) => {
      const first = stdout.split('\n')[0]?.trim() ?? '';
      resolve(error === null && first !== '' ? first.slice(0, 80) : undefined);
    });
  });
}

/** The agent programs on this PATH, with the version that each reports. The node looks in the PATH it was started with. */
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Finding } from './examine.ts';

const AGENT_PROGRAMS = ['claude', 'codex'];
/** Milliseconds; agents that are scripts take a second or two to say their version. */
const VERSION_WAIT_MS = 10_000;

export async function* examineProviders(
  env: Readonly<Record<string, string | undefined>>,
): AsyncGenerator<Finding, void, void> {
  for (const program of AGENT_PROGRAMS) {
    const subject = `provider ${program}`.slice(0, 15);
    const path = await findProgram(program, env.PATH ?? '');
    if (path === undefined) {
      yield { level: 'warn', subject, text: `not found on PATH; roost run ${program}   will be refused` };
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

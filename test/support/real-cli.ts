// The real agents in tests: at their pinned versions, installed when they are not on this machine yet.
import { dirname } from 'node:path';
import { ensureRealCli, RegistryUnreachable, type RealCliName } from '@roost/lab';
import type { TestContext } from 'vitest';
import type { RoostHome } from './roost-home.ts';

/** Milliseconds for a test that may have to install first. */
export const INSTALL_MS = 600_000;

/** Its executable; skips the test when it cannot be installed. */
export async function installRealCli(name: RealCliName, context: TestContext): Promise<string> {
  try {
    return (await ensureRealCli(name)).file;
  } catch (error) {
    if (!(error instanceof RegistryUnreachable)) throw error;
    return context.skip(`${name} could not be installed: ${error.message}`);
  }
}

/** Puts it, and the Node that it needs, first on the PATH of this Roost. */
export async function putOnPath(name: RealCliName, roost: RoostHome, context: TestContext): Promise<void> {
  const file = await installRealCli(name, context);
  roost.environment.PATH = `${dirname(file)}:${dirname(process.execPath)}:${roost.environment.PATH ?? ''}`;
}

/** Options of `roost run` that set these variables. */
export const asFlags = (environment: Readonly<Record<string, string>>): string[] =>
  Object.entries(environment).flatMap(([name, value]) => ['--env', `${name}=${value}`]);

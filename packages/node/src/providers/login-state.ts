// Whether somebody has logged in at a provider: what is known without the network, from a credential in the environment, a file that
// is there, or the program's own word. No credential is read.
import { lstatSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProviderDiscovery } from '@roost/protocol';
import { expandHome, type ProviderManifest } from '@roost/providers';
import { runCommand } from '../commands/run-command.ts';

type LoginState = ProviderDiscovery['login'];

/** Milliseconds for a program's own word. */
const ASK_MS = 5_000;
const OUTPUT_BYTES_MAX = 16 * 1024;

export interface LoginScene {
  /** What a session of that provider would have. */
  readonly environment: Readonly<Record<string, string>>;
  /** The program; null: it must not be started. */
  readonly path: string | null;
  readonly signal: AbortSignal;
}

export async function loginState(
  { login }: Pick<ProviderManifest, 'login'>,
  scene: LoginScene,
): Promise<LoginState> {
  const { environment } = scene;
  if (login === null) return 'yes';
  if (login.environment.some((name) => (environment[name] ?? '') !== '')) return 'yes';
  const { evidence } = login;
  switch (evidence?.kind) {
    case undefined:
      return 'unknown';
    case 'files': {
      const moved = evidence.variable === null ? undefined : environment[evidence.variable];
      const directory = moved ?? expandHome(evidence.directory, environment);
      if (directory === null) return 'unknown';
      if (evidence.credentials.some((name) => isThere(join(directory, name)))) return 'yes';
      return isThere(directory) ? 'unknown' : 'no';
    }
    case 'ask':
      return ask(evidence, scene);
  }
}

async function ask(
  { arguments: args, yes, no }: { arguments: readonly string[]; yes: RegExp; no: RegExp },
  { environment, path, signal }: LoginScene,
): Promise<LoginState> {
  if (path === null) return 'unknown';
  const { stdout, stderr } = await runCommand({
    program: path,
    args,
    directory: tmpdir(),
    environment,
    timeoutMs: ASK_MS,
    stdoutBytesMax: OUTPUT_BYTES_MAX,
    stderrBytesMax: OUTPUT_BYTES_MAX,
    beyondStdout: 'kill',
    signal,
  });
  const said = `${stdout.toString('utf8')}\n${stderr.toString('utf8')}`;
  if (no.test(said)) return 'no';
  return yes.test(said) ? 'yes' : 'unknown';
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

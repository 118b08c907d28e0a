// Installs the pinned real CLIs from the package registry into a cache of their own. A folder in the cache is complete or
// absent: it is filled under another name and renamed, and only one process fills it at a time.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { withFolderLock } from './folder-lock.ts';

export type RealCliName = 'claude' | 'codex';

/** The versions that the first-run screens and start-up facts were seen with. */
const PINNED: Readonly<Record<RealCliName, { packageName: string; version: string }>> = {
  claude: { packageName: '@anthropic-ai/claude-code', version: '2.1.197' },
  codex: { packageName: '@openai/codex', version: '0.171.0' },
};

const INSTALL_DEADLINE_MS = 300_000;

/** The registry cannot be reached: a reason to skip a test, not to fail it. */
export class RegistryUnreachable extends Error {
  override readonly name = 'RegistryUnreachable';
}

export interface RealCli {
  file: string;
  version: string;
}

/**
 * The executable of a real CLI, installed when it is not in the cache yet (about ten seconds and 250-450 MB each).
 * `file` may be a script that needs `node` in the PATH. Throws RegistryUnreachable without a registry.
 */
export async function ensureRealCli(
  name: RealCliName,
  { cacheDir = defaultCacheDir() }: { cacheDir?: string } = {},
): Promise<RealCli> {
  const { version } = PINNED[name];
  const folder = join(resolve(cacheDir), `${name}-${version}`);
  const file = join(folder, 'node_modules', '.bin', name);
  if (existsSync(file)) return { file, version };
  await mkdir(dirname(folder), { recursive: true });
  await withFolderLock(`${folder}.lock`, INSTALL_DEADLINE_MS, async () => {
    // Somebody else may have filled it while we waited.
    if (!existsSync(file)) await install(name, folder);
  });
  return { file, version };
}

function defaultCacheDir(): string {
  const { ROOST_LAB_CACHE: own, XDG_CACHE_HOME: xdg } = process.env;
  if (own !== undefined && own !== '') return own;
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches', 'roost-lab');
  return join(xdg !== undefined && xdg !== '' ? xdg : join(homedir(), '.cache'), 'roost-lab');
}

async function install(name: RealCliName, folder: string): Promise<void> {
  const { packageName, version } = PINNED[name];
  const building = await mkdtemp(`${folder}.building-`);
  try {
    // Keeps npm from looking for a project in the folders above.
    await writeFile(join(building, 'package.json'), '{"private":true}');
    await runNpm(['install', `${packageName}@${version}`, '--save-exact'], building);
    await proveRuns(join(building, 'node_modules', '.bin', name), version, building);
    await rm(folder, { recursive: true, force: true });
    await rename(building, folder);
  } finally {
    await rm(building, { recursive: true, force: true });
  }
}

/** An npm that holds back install scripts leaves a stub in place of the native executable. */
async function proveRuns(file: string, version: string, home: string): Promise<void> {
  const { stdout } = await promisify(execFile)(file, ['--version'], {
    env: { PATH: process.env.PATH, HOME: home },
    timeout: 30_000,
  });
  if (!stdout.includes(version))
    throw new Error(`${file} --version says ${JSON.stringify(stdout.trim())}, not ${version}`);
}

/** Scripts and optional packages carry the native executables; retries are few, so that being offline shows quickly. */
const NPM_FLAGS = [
  '--no-audit',
  '--no-fund',
  '--ignore-scripts=false',
  '--include=optional',
  '--loglevel=error',
  '--fetch-retries=1',
  '--fetch-retry-mintimeout=1000',
  '--fetch-retry-maxtimeout=2000',
  '--fetch-timeout=60000',
];

const UNREACHABLE =
  /\b(ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ERR_SOCKET_TIMEOUT|ENOTCACHED)\b/;

async function runNpm(args: readonly string[], cwd: string): Promise<void> {
  const npm = await findNpm();
  const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !FROM_OUTER_NPM.test(key)));
  await new Promise<void>((done, fail) => {
    execFile(
      npm.file,
      [...npm.args, ...args, '--prefix', cwd, ...NPM_FLAGS],
      { cwd, env, timeout: INSTALL_DEADLINE_MS, maxBuffer: 16 * 1024 * 1024 },
      (error, _, stderr) => {
        if (error === null) done();
        else if (UNREACHABLE.test(stderr))
          fail(
            new RegistryUnreachable(
              `npm ${args.join(' ')}: the registry is out of reach: ${firstLines(stderr)}`,
            ),
          );
        else fail(new Error(`npm ${args.join(' ')} failed: ${firstLines(stderr)}`, { cause: error }));
      },
    );
  });
}

/** Set for the scripts of the outer project, and wrong for an installation elsewhere. */
const FROM_OUTER_NPM =
  /^(npm_(lifecycle|package|command|execpath|node_execpath)|npm_config_(local_prefix|prefix|global|workspace)|INIT_CWD$)/i;

const firstLines = (text: string): string => text.trim().split('\n').slice(0, 6).join(' | ');

/** The npm that belongs to this Node, so that the Node of the installation is the one that runs now. */
async function findNpm(): Promise<{ file: string; args: string[] }> {
  const script = resolve(dirname(await realpath(process.execPath)), '../lib/node_modules/npm/bin/npm-cli.js');
  return existsSync(script) ? { file: process.execPath, args: [script] } : { file: 'npm', args: [] };
}

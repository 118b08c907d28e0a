// Installs the pinned real CLIs from the package registry into a cache of their own. A folder in the cache is complete or
// absent: it is filled under another name and renamed, and only one process fills it at a time.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { withFolderLock } from './folder-lock.ts';
import { PINNED, type RealCliName } from './versions.ts';

const INSTALL_DEADLINE_MS = 300_000;

/** The registry cannot be reached: a reason to skip a test, not to fail it. */
export class RegistryUnreachable extends Error {
  override readonly name = 'RegistryUnreachable';
}

export interface RealCli {
  file: string;
  version: string;
}

interface InstallOptions {
  cacheDir?: string;
  /** Another than the pinned one; `latest` asks the registry. */
  version?: string;
}

/**
 * The executable of a real CLI, installed when it is not in the cache yet (about ten seconds and 100-450 MB each).
 * `file` may be a script that needs `node` in the PATH. Throws RegistryUnreachable without a registry.
 */
export async function ensureRealCli(
  name: RealCliName,
  { cacheDir = defaultCacheDir(), version = PINNED[name].version }: InstallOptions = {},
): Promise<RealCli> {
  await mkdir(resolve(cacheDir), { recursive: true });
  const exact = version === 'latest' ? await latestVersion(name, cacheDir) : version;
  const folder = join(resolve(cacheDir), `${name}-${exact}`);
  const file = join(folder, 'node_modules', '.bin', name);
  if (existsSync(file)) return { file, version: exact };
  await withFolderLock(`${folder}.lock`, INSTALL_DEADLINE_MS, async () => {
    // Somebody else may have filled it while we waited.
    if (!existsSync(file)) await install(name, exact, folder);
  });
  return { file, version: exact };
}

async function latestVersion(name: RealCliName, cwd: string): Promise<string> {
  const output = await runNpm(['view', PINNED[name].packageName, 'dist-tags.latest'], cwd);
  return output.trim();
}

function defaultCacheDir(): string {
  const { ROOST_LAB_CACHE: own, XDG_CACHE_HOME: xdg } = process.env;
  if (own !== undefined && own !== '') return own;
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches', 'roost-lab');
  return join(xdg !== undefined && xdg !== '' ? xdg : join(homedir(), '.cache'), 'roost-lab');
}

async function install(name: RealCliName, version: string, folder: string): Promise<void> {
  const building = await mkdtemp(`${folder}.building-`);
  try {
    // Keeps npm from looking for a project in the folders above.
    await writeFile(join(building, 'package.json'), '{"private":true}');
    await runNpm(['install', `${PINNED[name].packageName}@${version}`, '--save-exact'], building);
    const found = await installedVersion(name, building);
    if (!found.includes(version))
      throw new Error(`${name} says it is ${JSON.stringify(found)}, not ${version}`);
    await rm(folder, { recursive: true, force: true });
    await rename(building, folder);
  } finally {
    await rm(building, { recursive: true, force: true });
  }
}

/** Asked of the program where it can tell: an npm that holds back install scripts leaves a stub in its place. */
async function installedVersion(name: RealCliName, folder: string): Promise<string> {
  const { packageName, answersVersion } = PINNED[name];
  if (!answersVersion) {
    const manifest = await readFile(join(folder, 'node_modules', packageName, 'package.json'), 'utf8');
    return (JSON.parse(manifest) as { version: string }).version;
  }
  const { stdout } = await promisify(execFile)(join(folder, 'node_modules', '.bin', name), ['--version'], {
    env: { PATH: process.env.PATH, HOME: folder },
    timeout: 30_000,
  });
  return stdout.trim();
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

async function runNpm(args: readonly string[], cwd: string): Promise<string> {
  const npm = await findNpm();
  const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !FROM_OUTER_NPM.test(key)));
  return new Promise((done, fail) => {
    execFile(
      npm.file,
      [...npm.args, ...args, '--prefix', cwd, ...NPM_FLAGS],
      { cwd, env, timeout: INSTALL_DEADLINE_MS, maxBuffer: 16 * 1024 * 1024 },
      (error, stdout, stderr) => {
        if (error === null) done(stdout);
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

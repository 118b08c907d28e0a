// What the files of a repository tell of it, so that a read need not start a process before the one that compares. Only what is as
// git makes it is told: settings that move the working tree, that bring filters or other files along, or another store of references,
// are left to git. Nothing is remembered: each read looks again.
import { lstat, realpath } from 'node:fs/promises';
import { delimiter, dirname, join, relative, resolve, sep } from 'node:path';
import { systemErrorCode } from '@roost/storage';
import { readText, textOf } from './read-text.ts';
import type { Repository } from './repository.ts';

export interface PlainRepository extends Repository {
  readonly hasWorkingTree: true;
  /** Where the branches are: of all worktrees together. */
  readonly commonDirectory: string;
  /** What holds `.git`. Git that is kept from looking above it finds this repository or none. */
  readonly top: string;
}

/** Bytes of a file with one path in it. */
const POINTER_BYTES_MAX = 8_192;
/** Bytes of the settings: of some thousand branches. */
const SETTINGS_BYTES_MAX = 256 * 1024;

/** Sections of filters, and of other files with settings. Git allows no white space there; one that did would be no surprise. */
const FOREIGN_SECTION = /\[\s*(?:filter|include)/i;
/** As a whole word anywhere, in a value or comment too: settings that say how references are stored. */
const OTHER_REFERENCES = /(?<![a-z0-9-])refstorage(?![a-z0-9-])/i;
/** That say where the working tree is, and whether there is one. Every new repository has the line `bare = false`. */
const OTHER_WORKING_TREE = /(?<![a-z0-9-])(?:worktree|bare(?![ \t]*=[ \t]*false[ \t]*$))(?![a-z0-9-])/im;
const OWN_SETTINGS = /worktreeconfig/i;

/** null when they do not tell, which is no word on whether there is one. Never throws. */
export async function readPlainRepository(directory: string): Promise<PlainRepository | null> {
  try {
    // Git tells every path with its links resolved.
    if ((await realpath(directory)) !== directory) return null;
    const top = await findTop(directory);
    return top === null ? null : await readAt(top, directory);
  } catch {
    return null;
  }
}

/** The nearest directory upward that holds `.git`; null when one on the way could be a repository without a working tree. */
async function findTop(directory: string): Promise<string | null> {
  for (let at = directory; dirname(at) !== at; at = dirname(at)) {
    const [hasGit, hasHead] = await Promise.all([isThere(join(at, '.git')), isThere(join(at, 'HEAD'))]);
    if (hasHead) return null;
    if (hasGit) return at;
  }
  return null;
}

async function readAt(top: string, directory: string): Promise<PlainRepository | null> {
  // The list of directories that git does not look above would end there.
  if (top.includes(delimiter) || top.includes('\n')) return null;
  const gitDirectory = await findGitDirectory(join(top, '.git'));
  if (gitDirectory === null) return null;
  const common = await readText(join(gitDirectory, 'commondir'), POINTER_BYTES_MAX);
  if (common === 'unreadable') return null;
  const isLinked = common !== 'absent';
  const named = isLinked ? pathIn(common.text) : '.';
  if (named === null) return null;
  const commonDirectory = await realpath(resolve(gitDirectory, named));
  const [settings, own] = await Promise.all([
    textOf(join(commonDirectory, 'config'), SETTINGS_BYTES_MAX),
    readText(join(gitDirectory, 'config.worktree'), SETTINGS_BYTES_MAX),
  ]);
  if (settings === null || own === 'unreadable') return null;
  const all = own === 'absent' ? settings : `${settings}\n${own.text}`;
  if (!isPlain(all, isLinked)) return null;
  const inside = relative(top, directory);
  return {
    directory,
    hasWorkingTree: true,
    prefix: Buffer.from(inside === '' ? '' : inside.replaceAll(sep, '/') + '/'),
    gitDirectory,
    objectsDirectory: join(commonDirectory, 'objects'),
    commonDirectory,
    top,
  };
}

/** The settings of a main working tree that say where it is do not count in a linked one, unless each has settings of its own. */
export function isPlain(settings: string, isLinked: boolean): boolean {
  if (FOREIGN_SECTION.test(settings) || OTHER_REFERENCES.test(settings)) return false;
  return (isLinked && !OWN_SETTINGS.test(settings)) || !OTHER_WORKING_TREE.test(settings);
}

/** A linked working tree and a submodule have a file there, which names it. */
async function findGitDirectory(path: string): Promise<string | null> {
  if ((await lstat(path)).isDirectory()) return path;
  const text = await textOf(path, POINTER_BYTES_MAX);
  const named = text?.startsWith('gitdir: ') === true ? pathIn(text.slice('gitdir: '.length)) : null;
  return named === null ? null : realpath(resolve(dirname(path), named));
}

/** The path on the only line; null for anything else, also for one that was no UTF-8. */
function pathIn(text: string): string | null {
  return /^[^\0\r\n\ufffd]+\n?$/.test(text) ? text.replace(/\n$/, '') : null;
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

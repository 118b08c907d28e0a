// Comparing a working tree has git run the clean filters of its files. Those of the person's own configuration are theirs, as in
// their own terminal; those that a repository brings along are put out of action.
import { FailureError } from '@roost/protocol';
import type { Deadline } from '../deadline.ts';
import { runGit, type GitSetting, type GitSource } from './run-git.ts';
import { gitFailure } from './git-failure.ts';
import { splitAtNul, strictText } from './repository-names.ts';

/** Bytes of settings that are read: far more filters than anybody has. */
const SETTINGS_BYTES_MAX = 1024 * 1024;

/** What makes a filter do nothing. */
const HARMLESS: Readonly<Record<string, string>> = { clean: '', smudge: '', process: '', required: 'false' };

/** The settings with which git leaves the filters of the repository alone. @throws FailureError: when that cannot be known. */
export async function withoutLocalFilters(
  source: GitSource,
  directory: string,
  deadline: Deadline,
): Promise<GitSetting[]> {
  const outcome = await runGit(source, {
    directory,
    args: ['config', '--show-scope', '--null', '--get-regexp', '^filter\\.'],
    effect: 'read',
    timeoutMs: deadline.remaining(),
    stdoutBytesMax: SETTINGS_BYTES_MAX,
  });
  // 1: there is none.
  if (outcome.exitCode === 1 && outcome.stdout.length === 0) return [];
  if (outcome.exitCode !== 0) throw gitFailure(outcome);
  return overridesOf(outcome.stdout);
}

const TRUSTED_SCOPES = ['system', 'global'];

/**
 * From pairs of scope and `name LF value`, in the order in which the later one wins.
 * @throws FailureError: git-failed for one whose name is no text, and so cannot be named in return.
 */
export function overridesOf(bytes: Buffer): GitSetting[] {
  const fields = splitAtNul(bytes).map((field) => {
    const text = strictText(field);
    if (text === null)
      throw new FailureError('git-failed', {}, { cause: new Error('a filter without a name') });
    return text;
  });
  const trusted = new Map<string, string>();
  const overridden = new Set<string>();
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [scope = '', setting = ''] = fields.slice(at, at + 2);
    const cut = setting.indexOf('\n');
    const name = cut < 0 ? setting : setting.slice(0, cut);
    if (TRUSTED_SCOPES.includes(scope)) trusted.set(name, cut < 0 ? 'true' : setting.slice(cut + 1));
    else overridden.add(name);
  }
  return [...overridden].flatMap((name) => {
    const harmless = HARMLESS[name.slice(name.lastIndexOf('.') + 1)];
    const value = trusted.get(name) ?? harmless;
    return value === undefined ? [] : [{ name, value }];
  });
}

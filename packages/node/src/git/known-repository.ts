// What has to be known of a repository before git compares anything in it: where it is, and how its filters are put out of action.
import { dirname } from 'node:path';
import { FailureError } from '@roost/protocol';
import { OVER, type Deadline } from '../deadline.ts';
import { withoutLocalFilters } from './local-filters.ts';
import { readPlainRepository } from './plain-repository.ts';
import { findRepository, type Repository } from './repository.ts';
import type { GitSetting, GitSource } from './run-git.ts';

export interface KnownRepository extends Repository {
  /** Where its files tell of its branches; null where only git knows. */
  readonly commonDirectory: string | null;
  /** For every command that compares files there. */
  readonly filters: readonly GitSetting[];
  /** The same. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * The work, on what the files tell, when they do; on what git says when they do not, or when git failed on what they told.
 * @throws FailureError: not-git-repository, git-*; whatever the work throws.
 */
export async function inRepository<T>(
  source: GitSource,
  directory: string,
  deadline: Deadline,
  work: (repository: KnownRepository) => Promise<T>,
): Promise<T> {
  const plain = await deadline.race(readPlainRepository(directory));
  if (plain !== null && plain !== OVER) {
    // Git finds this one, of which is known that it has no filters, or none at all.
    const environment = { GIT_CEILING_DIRECTORIES: dirname(plain.top) };
    try {
      return await work({ ...plain, filters: [], environment });
    } catch (error) {
      if (!mayContradict(error)) throw error;
    }
  }
  const [repository, filters] = await Promise.all([
    findRepository(source, directory, deadline),
    withoutLocalFilters(source, directory, deadline),
  ]);
  return work({ ...repository, commonDirectory: null, filters, environment: {} });
}

/** What git says when it finds nothing where the files told, or not what they told. */
const CONTRADICTIONS: readonly string[] = ['not-git-repository', 'no-working-tree', 'git-failed'];

function mayContradict(error: unknown): boolean {
  return error instanceof FailureError && CONTRADICTIONS.includes(error.failure.code);
}

import * as z from 'zod';
import { REPOSITORY_PATH_BYTES_MAX } from './bounds.ts';
import { GATES } from './gates.ts';

/**
 * A path inside a workspace: relative, components apart by single slashes, none of them empty, `.` or `..`, without NUL, at
 * most 1,024 bytes (UTF-8). A backslash is a character like others.
 * A peer that does not know such paths sees nothing that has one.
 */
export const RepositoryPath = z
  .string()
  .refine((path) => path.length > 0, 'the path must not be empty')
  .refine((path) => !path.includes('\0') && path.isWellFormed(), 'the path is no text that a name can be')
  .refine(
    (path) => path.split('/').every((part) => part !== '' && part !== '.' && part !== '..'),
    'the path must be relative, without empty parts, . and ..',
  )
  .refine(
    (path) =>
      path.length <= REPOSITORY_PATH_BYTES_MAX &&
      new TextEncoder().encode(path).length <= REPOSITORY_PATH_BYTES_MAX,
    'the path is too long',
  )
  .brand<'RepositoryPath'>()
  .register(GATES, { capability: 'repository-path-v1', hides: 'itself', applies: () => true });
export type RepositoryPath = z.infer<typeof RepositoryPath>;

import * as z from 'zod';
import { WorkspaceId } from '../ids.ts';
import { operation } from '../operation.ts';
import { RepositoryPath } from '../repository-path.ts';
import { FileContent, FileRevision, FileText } from '../workspace-file.ts';

/** Refusals of every way to an entry of a workspace. */
const PATH_FAILURES = [
  'unknown-workspace',
  'invalid-workspace-root',
  'backend-busy',
  'repository-path-unsafe',
  'repository-access-unavailable',
] as const;
const CREATE_FAILURES = [
  ...PATH_FAILURES,
  'repository-entry-already-exists',
  'repository-parent-not-found',
  'repository-parent-not-directory',
  'repository-entry-create-failed',
  'repository-entry-create-timed-out',
] as const;

const Place = () => z.strictObject({ workspaceId: WorkspaceId, path: RepositoryPath });
const WrittenFile = () =>
  z.object({
    workspaceId: WorkspaceId,
    path: RepositoryPath,
    byteLength: z.int().nonnegative(),
    revision: FileRevision,
  });

export const workspaceReadFile = operation({
  name: 'workspace.readFile',
  summary: 'Reads a file of a workspace: text of up to 256 KiB with its revision; of others, what they are.',
  access: 'observer',
  capability: 'workspace-file-read-v1',
  params: Place,
  result: () => z.object({ workspaceId: WorkspaceId, path: RepositoryPath, content: FileContent }),
  failures: [
    ...PATH_FAILURES,
    'repository-file-not-found',
    'repository-file-not-regular',
    'repository-file-read-failed',
    'repository-file-read-timed-out',
  ],
});

export const workspaceWriteFile = operation({
  name: 'workspace.writeFile',
  summary:
    'Replaces the text of a file that is there, in one step, if it still has the expected revision. Timed out means that it did not happen and will not.',
  access: 'controller',
  capability: 'workspace-file-write-v1',
  params: () =>
    z.strictObject({
      workspaceId: WorkspaceId,
      path: RepositoryPath,
      expectedRevision: FileRevision,
      text: FileText,
    }),
  result: WrittenFile,
  failures: [
    ...PATH_FAILURES,
    'repository-file-not-found',
    'repository-file-not-regular',
    'repository-file-not-text',
    'repository-file-revision-conflict',
    'repository-file-write-failed',
    'repository-file-write-timed-out',
  ],
});

export const workspaceCreateFile = operation({
  name: 'workspace.createFile',
  summary:
    'Makes an empty file in a directory that is there, never in place of something. Timed out means that it did not happen and will not.',
  access: 'controller',
  capability: 'workspace-entry-create-v1',
  params: Place,
  result: WrittenFile,
  failures: CREATE_FAILURES,
});

export const workspaceCreateDirectory = operation({
  name: 'workspace.createDirectory',
  summary:
    'Makes a directory in a directory that is there, never in place of something. Timed out means that it did not happen and will not.',
  access: 'controller',
  capability: 'workspace-entry-create-v1',
  params: Place,
  result: () => z.object({ workspaceId: WorkspaceId, path: RepositoryPath }),
  failures: CREATE_FAILURES,
});

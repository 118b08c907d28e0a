// Reading and changing files of workspaces for clients: bounded in time, size and number, and with one definite answer for every
// change. The work holds its slot until it has really ended, so a file system that hangs uses up slots and never more.
import {
  FailureError,
  WORKSPACE_FILE_BYTES_MAX,
  type FailureCode,
  type FailureDetails,
  type RepositoryPath,
  type WorkspaceId,
} from '@roost/protocol';
import type { Handlers } from '../control/handlers.ts';
import { KeyedLocks } from '../control/keyed-locks.ts';
import type { Slots } from '../control/slots.ts';
import { Deadline, OVER } from '../deadline.ts';
import type { Log } from '@roost/storage';
import type { Store } from '../store/store.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import { CommitGate, settleBy } from './commit-gate.ts';
import { revisionOf } from './content.ts';
import { createDirectory, createFile, type Creation } from './create-entry.ts';
import { isInGitDirectory } from './git-directory.ts';
import { faultOf, PathFault, type PathFaultKind } from './path-fault.ts';
import { readFile } from './read-file.ts';
import { writeFile } from './write-file.ts';

/** Milliseconds until the answer is that it took too long. */
const READ_MS = 2_000;
const CHANGE_MS = 5_000;

type FileOperation =
  'workspace.readFile' | 'workspace.writeFile' | 'workspace.createFile' | 'workspace.createDirectory';

export interface FilesScene {
  readonly store: Store;
  /** Shared with inspections and git. */
  readonly slots: Slots;
  readonly log: Log;
}

export function fileOperations({ store, slots, log }: FilesScene): Pick<Handlers, FileOperation> {
  const locks = new KeyedLocks();

  function rootOf(workspaceId: WorkspaceId): string {
    const workspace = findWorkspace(store.sql, workspaceId);
    if (workspace === null) throw new FailureError('unknown-workspace', { workspaceId });
    return workspace.root;
  }

  /** Makes a change in a slot; the workspace has to be registered until the moment in which it is made. */
  async function change<Outcome>(
    kind: 'write' | 'create',
    place: Place,
    work: (scene: { readonly root: string; readonly gate: CommitGate }) => Promise<Outcome>,
  ): Promise<Outcome> {
    const root = rootOf(place.workspaceId);
    if (isInGitDirectory(`${root}/${place.path}`)) throw refusalOf(new PathFault('unsafe'), kind, place);
    const gate = new CommitGate(() => {
      if (rootOf(place.workspaceId) !== root) throw new PathFault('root-gone');
    });
    const late = () => new FailureError(CODES[kind].canceled, { ...place });
    const working = slots.run(() => work({ root, gate }));
    return settleBy(Deadline.in(CHANGE_MS), gate, working, late).catch((error: unknown) => {
      throw refusalOf(error, kind, place);
    });
  }

  async function create(place: Place, make: (creation: Creation) => Promise<void>): Promise<void> {
    await change('create', place, ({ root, gate }) => make({ root, path: place.path, gate, log }));
  }

  return {
    'workspace.readFile': async ({ workspaceId, path }) => {
      const place = { workspaceId, path };
      const root = rootOf(workspaceId);
      const reading = slots.run(() => readFile(root, path));
      const content = await Deadline.in(READ_MS)
        .race(reading)
        .catch((error: unknown) => {
          throw refusalOf(error, 'read', place);
        });
      if (content === OVER) throw new FailureError(CODES.read.canceled, { ...place });
      return { ...place, content };
    },

    'workspace.writeFile': async ({ workspaceId, path, expectedRevision: expected, text }) => {
      const place = { workspaceId, path };
      const written = await change('write', place, ({ root, gate }) =>
        writeFile({ root, path, expected, text, gate, locks, log }),
      );
      return { ...place, ...written };
    },

    'workspace.createFile': async ({ workspaceId, path }) => {
      await create({ workspaceId, path }, createFile);
      return { workspaceId, path, byteLength: 0, revision: revisionOf(new Uint8Array()) };
    },

    'workspace.createDirectory': async ({ workspaceId, path }) => {
      await create({ workspaceId, path }, createDirectory);
      return { workspaceId, path };
    },
  };
}

interface Place {
  readonly workspaceId: WorkspaceId;
  readonly path: RepositoryPath;
}

const SHARED = {
  unsafe: 'repository-path-unsafe',
  unavailable: 'repository-access-unavailable',
  'root-gone': 'invalid-workspace-root',
  'name-too-long': 'invalid-request',
  full: 'storage-full',
  conflict: 'repository-file-revision-conflict',
  'not-text': 'repository-file-not-text',
} as const satisfies Partial<Record<PathFaultKind, FailureCode>>;

const FILE = {
  ...SHARED,
  'parent-missing': 'repository-file-not-found',
  'parent-not-directory': 'repository-file-not-regular',
  missing: 'repository-file-not-found',
  'not-regular': 'repository-file-not-regular',
} as const;

/** What each fault means to whoever asked for that. */
const CODES: Readonly<Record<'read' | 'write' | 'create', Readonly<Record<PathFaultKind, FailureCode>>>> = {
  read: {
    ...FILE,
    exists: 'repository-file-read-failed',
    canceled: 'repository-file-read-timed-out',
    failed: 'repository-file-read-failed',
  },
  write: {
    ...FILE,
    exists: 'repository-file-write-failed',
    canceled: 'repository-file-write-timed-out',
    failed: 'repository-file-write-failed',
  },
  create: {
    ...SHARED,
    'parent-missing': 'repository-parent-not-found',
    'parent-not-directory': 'repository-parent-not-directory',
    missing: 'repository-parent-not-found',
    'not-regular': 'repository-parent-not-directory',
    exists: 'repository-entry-already-exists',
    canceled: 'repository-entry-create-timed-out',
    failed: 'repository-entry-create-failed',
  },
};

/** Codes and names that the caller gave; what the system said goes to the log only. */
function refusalOf(error: unknown, kind: keyof typeof CODES, place: Place): FailureError {
  if (error instanceof FailureError) return error;
  const fault = faultOf(error);
  const details: FailureDetails = { ...place };
  if (fault.kind === 'name-too-long')
    details.reason = 'a name in the path is longer than the file system takes';
  if (fault.kind === 'not-text') details.limitBytes = WORKSPACE_FILE_BYTES_MAX;
  if (fault.revision !== null) details.revision = fault.revision;
  return new FailureError(
    CODES[kind][fault.kind],
    details,
    fault.kind === 'failed' || fault.kind === 'unavailable' ? { cause: fault } : {},
  );
}

import type { z } from 'zod';
import { controllerAcquire, controllerRelease, controllerShow } from './controller.ts';
import { interactionList, interactionResolve, sessionChoose, sessionReadTimeline } from './conversation.ts';
import { eventsRead, eventsSubscribe } from './events.ts';
import {
  workspaceCreateDirectory,
  workspaceCreateFile,
  workspaceReadFile,
  workspaceWriteFile,
} from './file.ts';
import { gitDiff, gitHistory, gitStatus, sessionDiff } from './git.ts';
import { historyAdopt, historyList, historyPreview, historyRead, historyResolve } from './history.ts';
import { hostBrowseDirectories } from './host.ts';
import { hubConnect, hubJoin, hubLeave, hubList } from './hub.ts';
import {
  worktreeAllocate,
  worktreeCleanup,
  worktreeEvidence,
  worktreeLeases,
  worktreeProfiles,
  worktreeResolve,
  worktreeSpawn,
} from './managed-worktree.ts';
import { nodeShutdown, nodeSnapshot, nodeStatus } from './node.ts';
import { providerCheck, providerList } from './provider.ts';
import {
  recordForget,
  recordIndex,
  recordList,
  recordRename,
  recordResolve,
  recordResume,
  recordSetTask,
  sessionReportIdentity,
} from './record.ts';
import { screenUnwatch, screenWatch } from './screen.ts';
import {
  sessionAttach,
  sessionFollowOutput,
  sessionInput,
  sessionAcknowledge,
  sessionInterrupt,
  sessionList,
  sessionPaste,
  sessionPrompt,
  sessionReadOutput,
  sessionReadScreen,
  sessionRemove,
  sessionResize,
  sessionResolve,
  sessionResume,
  sessionSendBytes,
  sessionSendKey,
  sessionSpawn,
  sessionStop,
  sessionUnfollowOutput,
  sessionWait,
} from './session.ts';
import { profileList, spawnResult, spawnSubmit } from './spawn.ts';
import { terminalClose, terminalOpen } from './terminal.ts';
import { worktreeCreate, worktreeList, worktreeRemove } from './worktree.ts';
import {
  workspaceCreateStandalone,
  workspaceInspect,
  workspaceList,
  workspaceRegister,
  workspaceUnregister,
} from './workspace.ts';

const declared = [
  nodeStatus,
  nodeSnapshot,
  nodeShutdown,
  controllerShow,
  controllerAcquire,
  controllerRelease,
  providerList,
  providerCheck,
  profileList,
  workspaceRegister,
  workspaceList,
  workspaceUnregister,
  workspaceReadFile,
  workspaceWriteFile,
  workspaceCreateFile,
  workspaceCreateDirectory,
  gitStatus,
  gitHistory,
  gitDiff,
  worktreeList,
  worktreeCreate,
  worktreeRemove,
  workspaceCreateStandalone,
  workspaceInspect,
  hostBrowseDirectories,
  spawnSubmit,
  spawnResult,
  worktreeProfiles,
  worktreeLeases,
  worktreeAllocate,
  worktreeSpawn,
  worktreeCleanup,
  worktreeEvidence,
  worktreeResolve,
  sessionSpawn,
  sessionList,
  sessionResolve,
  sessionAttach,
  sessionReadScreen,
  sessionReadOutput,
  sessionFollowOutput,
  sessionUnfollowOutput,
  sessionPrompt,
  sessionPaste,
  sessionInput,
  sessionSendBytes,
  sessionSendKey,
  sessionResize,
  sessionAcknowledge,
  sessionInterrupt,
  sessionStop,
  sessionRemove,
  sessionResume,
  sessionReportIdentity,
  sessionWait,
  sessionReadTimeline,
  sessionChoose,
  interactionList,
  interactionResolve,
  sessionDiff,
  recordList,
  recordResolve,
  recordRename,
  recordSetTask,
  recordIndex,
  recordResume,
  recordForget,
  historyList,
  historyResolve,
  historyPreview,
  historyRead,
  historyAdopt,
  terminalOpen,
  terminalClose,
  screenWatch,
  screenUnwatch,
  eventsRead,
  eventsSubscribe,
  hubJoin,
  hubLeave,
  hubList,
  hubConnect,
] as const;

type Declared = (typeof declared)[number];
export type OperationName = Declared['name'];
export type OperationOf<Name extends OperationName> = Extract<Declared, { name: Name }>;
/** What a caller writes: defaults may be left out. */
export type ParamsInput<Name extends OperationName> = z.input<OperationOf<Name>['params']>;
/** What a handler gets. */
export type Params<Name extends OperationName> = z.output<OperationOf<Name>['params']>;
export type Result<Name extends OperationName> = z.output<OperationOf<Name>['result']>;

/** Every operation by name: the one source of dispatch, client types, `roost api`, and reference docs. */
export const OPERATIONS = Object.fromEntries(declared.map((one) => [one.name, one])) as unknown as {
  readonly [Name in OperationName]: OperationOf<Name>;
};

export function isOperationName(name: string): name is OperationName {
  return Object.hasOwn(OPERATIONS, name);
}

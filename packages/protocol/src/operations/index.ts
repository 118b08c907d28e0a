import type { z } from 'zod';
import { eventsRead, eventsSubscribe } from './events.ts';
import { nodeShutdown, nodeStatus } from './node.ts';
import {
  sessionAttach,
  sessionInput,
  sessionInterrupt,
  sessionList,
  sessionReadOutput,
  sessionReadScreen,
  sessionRemove,
  sessionResize,
  sessionResolve,
  sessionSpawn,
  sessionStop,
  sessionWait,
} from './session.ts';
import { workspaceList, workspaceRegister, workspaceUnregister } from './workspace.ts';

const declared = [
  nodeStatus,
  nodeShutdown,
  workspaceRegister,
  workspaceList,
  workspaceUnregister,
  sessionSpawn,
  sessionList,
  sessionResolve,
  sessionAttach,
  sessionReadScreen,
  sessionReadOutput,
  sessionInput,
  sessionResize,
  sessionInterrupt,
  sessionStop,
  sessionRemove,
  sessionWait,
  eventsRead,
  eventsSubscribe,
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

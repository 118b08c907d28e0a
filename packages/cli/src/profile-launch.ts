/**
 * `roost run --profile`: a spawn spec from the words of a command line, and its launch. What is not said stays the
 * profile's: a size or name of our own surroundings would make another launch of the same words under the same key.
 */
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import type { NodeConnection } from '@roost/client';
import {
  FailureError,
  IdempotencyKey,
  ProfileId,
  Revision,
  RuntimeCapability,
  SPAWN_DEADLINE_MS_MAX,
  type ParamsInput,
  type SpawnReceipt,
} from '@roost/protocol';
import type { CommandContext } from './command-context.ts';
import { readName, readSeconds, readWorkspaceId } from './operands.ts';
import { submitOnce } from './settled-launch.ts';
import { readOverrides } from './spawn-overrides.ts';
import { UsageError } from './usage-error.ts';
import { workspaceAround } from './workspace-around.ts';

export interface ProfileLaunchWords {
  readonly profile: string;
  readonly set?: readonly string[];
  readonly clear?: readonly string[];
  readonly require?: readonly string[];
  readonly idempotencyKey?: string;
  readonly expectRevision?: string;
  readonly deadline?: string;
  readonly workspace?: string;
  readonly cwd?: string;
  readonly name?: string;
  readonly size?: string;
  readonly pipe?: boolean;
}

type Spec = ParamsInput<'spawn.submit'>;

/** A spec but for what only the node can tell. */
export interface ProfileLaunch {
  readonly spec: Omit<Spec, 'target' | 'expectedRevision'>;
  readonly expectedRevision: string | undefined;
  /** Whether the caller knows the key, and may have used it before. */
  readonly isKeyGiven: boolean;
  readonly place: { readonly workspaceId: string } | { readonly directory: string };
}

/** Words behind `--` are the arguments. */
export function readProfileLaunch(
  words: ProfileLaunchWords,
  passedThrough: readonly string[] | undefined,
  directory: string,
): ProfileLaunch {
  const { workspace, cwd, name, size, pipe, idempotencyKey, expectRevision } = words;
  if (workspace !== undefined && cwd !== undefined) throw new UsageError('give --workspace or --cwd');
  const sets = [
    ...(words.set ?? []),
    ...(size === undefined ? [] : [`size=${size}`]),
    ...(pipe === true ? ['transport=pipe'] : []),
    ...(passedThrough === undefined ? [] : [`arguments=${JSON.stringify(passedThrough)}`]),
  ];
  const deadlineMs = words.deadline === undefined ? SPAWN_DEADLINE_MS_MAX : readSeconds(words.deadline);
  if (deadlineMs < 1 || deadlineMs > SPAWN_DEADLINE_MS_MAX) {
    throw new UsageError(`the deadline is more than 0 and at most ${SPAWN_DEADLINE_MS_MAX / 1000} seconds`);
  }
  return {
    spec: {
      profileId: read(ProfileId, '--profile', words.profile),
      overrides: readOverrides(sets, words.clear ?? []),
      name: name === undefined ? null : readName(name),
      deadlineMs,
      idempotencyKey:
        idempotencyKey === undefined
          ? randomUUID()
          : read(IdempotencyKey, '--idempotency-key', idempotencyKey),
      requiredCapabilities: (words.require ?? []).map(readCapability),
    },
    expectedRevision:
      expectRevision === undefined ? undefined : read(Revision, '--expect-revision', expectRevision),
    isKeyGiven: idempotencyKey !== undefined,
    place:
      workspace === undefined
        ? { directory: resolve(directory, cwd ?? '.') }
        : { workspaceId: readWorkspaceId(workspace) },
  };
}

export async function launchFromProfile(
  context: CommandContext,
  launch: ProfileLaunch,
): Promise<SpawnReceipt> {
  const connection = await context.node();
  const [expectedRevision, workspaceId] = await Promise.all([
    revisionFor(context, connection, launch),
    workspaceFor(context, connection, launch.place),
  ]);
  return submitOnce(context, {
    ...launch.spec,
    expectedRevision,
    target: { nodeId: connection.node.id, workspaceId },
  });
}

/** A launch that happened already is asked for again as it was, whatever its profile has become meanwhile. */
async function revisionFor(
  context: CommandContext,
  connection: NodeConnection,
  { spec: { profileId, idempotencyKey }, expectedRevision, isKeyGiven }: ProfileLaunch,
): Promise<string> {
  if (expectedRevision !== undefined) return expectedRevision;
  if (isKeyGiven) {
    const before = await connection.request('spawn.result', { idempotencyKey });
    if (before.state === 'accepted' && before.receipt.profileId === profileId)
      return before.receipt.profileRevision;
  }
  const { profiles, faults } = await connection.request('profile.list', {});
  const found = profiles.find(({ id }) => id === profileId);
  if (found !== undefined) return found.revision;
  const fault = faults.find(({ file }) => file === `${profileId}.json`);
  if (fault !== undefined) context.note(`${fault.file}: ${fault.fault}`);
  throw new FailureError('unknown-spawn-profile', { profileId });
}

async function workspaceFor(
  context: CommandContext,
  connection: NodeConnection,
  place: ProfileLaunch['place'],
): Promise<string> {
  if ('workspaceId' in place) return place.workspaceId;
  const workspace = await workspaceAround(connection, place.directory);
  if (workspace.isAbove) context.note(`runs in ${workspace.root}, the root of workspace ${workspace.id}`);
  return workspace.id;
}

function readCapability(text: string): RuntimeCapability {
  const parsed = RuntimeCapability.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new UsageError(`'${text}' is no capability; those are ${RuntimeCapability.options.join(', ')}`);
}

interface Schema<Value> {
  safeParse(text: string):
    | { readonly success: true; readonly data: Value }
    | {
        readonly success: false;
        readonly error: { readonly issues: readonly { readonly message: string }[] };
      };
}

function read<Value>(schema: Schema<Value>, option: string, text: string): Value {
  const parsed = schema.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new UsageError(
    `${option} '${text}' is refused: ${parsed.error.issues[0]?.message ?? 'out of bounds'}`,
  );
}

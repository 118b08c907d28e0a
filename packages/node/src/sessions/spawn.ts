// Starting a session as a person asks for it: a directory, a provider or a command. What fails stays visible as a failed session.
import { randomUUID } from 'node:crypto';
import { FailureError, ProviderId, type Session, type SpawnRequest } from '@roost/protocol';
import type { Caller } from '../control/handlers.ts';
import { mayUse } from '../control/visible.ts';
import { Deadline } from '../deadline.ts';
import { worktreeEnvironment } from '../managed-worktrees/lease-environment.ts';
import { makesRecord } from '../records/new-record.ts';
import { startSession, type StartScene } from '../spawn/start-session.ts';
import { locate } from '../workspaces/locate.ts';
import { planSession, type LaunchSource } from './launch.ts';

interface SpawnScene extends StartScene {
  readonly source: LaunchSource;
  readonly caller: Pick<Caller, 'projection'>;
}

export async function spawnSession(scene: SpawnScene, request: SpawnRequest): Promise<Session> {
  const location = await locate(request.directory);
  if (location === null) throw new FailureError('invalid-directory', { directory: request.directory });
  const { leaseId = null } = request;
  if (request.launch.kind === 'provider') await scene.source.providers.settle(request.launch.provider);
  const launch = planSession(
    {
      ...request,
      ...(leaseId === null ? {} : { worktree: worktreeEnvironment(scene.store.sql, leaseId) }),
      session: { kind: 'assign', id: randomUUID() },
      prompt: null,
    },
    location.directory,
    scene.source,
  );
  // Whoever could not see the session does not start it.
  mayUse(scene.caller, ProviderId, launch.provider);
  return startSession(scene, {
    launch,
    transport: request.transport,
    size: request.size,
    location,
    workspaceId: null,
    name: request.name ?? null,
    record: makesRecord('provider-identity-only', launch.provider, request.transport)
      ? { kind: 'new', arguments: launch.given, bundle: null, context: null }
      : { kind: 'none' },
    environmentProfile: null,
    interactions: request.interactions ?? null,
    ...(leaseId === null ? {} : { leaseId }),
    deadline: new Deadline(null),
    afterFailure: 'keep',
  });
}

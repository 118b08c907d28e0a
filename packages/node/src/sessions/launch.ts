// From a spawn request to what a keeper starts. Looks at the file system, starts nothing.
import { existsSync } from 'node:fs';
import { FailureError, type SpawnRequest } from '@roost/protocol';
import {
  findExecutable,
  planCommand,
  planLaunch,
  planOptions,
  type LaunchOutcome,
  type LaunchPlan,
  type SessionChoice,
} from '@roost/providers';
import type { ProviderSource } from '../providers/providers.ts';
import { homePaths } from '../home/paths.ts';

export interface Launch extends LaunchPlan {
  readonly provider: string;
  /** What the session is called after, unless the request names it. */
  readonly stem: string;
  /** Those of a provider that were asked for, session options among them: a resume gives them again. */
  readonly given: readonly string[];
}

/** What is to be launched. */
interface LaunchRequest extends Pick<SpawnRequest, 'launch' | 'transport' | 'environment'> {
  /** What a managed worktree tells its programs. Nothing that the launch sets takes its place. */
  readonly worktree?: Readonly<Record<string, string>>;
  /** The provider's own session: a fresh id to assign, one to run on, or none. A command has none. */
  readonly session: SessionChoice;
  /** First prompt for the agent; null for none. */
  readonly prompt: string | null;
}

/** What of the node goes into a launch. */
export interface LaunchSource {
  /** The node's own environment, of which children get a selection. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The node's state directory. */
  readonly home: string;
  readonly providers: ProviderSource;
}

/** Bytes of arguments and environment together: what Linux takes for one program by default, less some room. */
const PROGRAM_BYTES_MAX = 2 * 1024 * 1024 - 64 * 1024;

export function planSession(
  { launch, transport, environment: set, worktree, session, prompt }: LaunchRequest,
  directory: string,
  { environment, home, providers }: LaunchSource,
): Launch {
  const scene = {
    environment,
    // A `roost` inside the session speaks to the node that hosts it.
    set: { ROOST_HOME: home, ...set, ...worktree },
    hooks: { directory: homePaths(home).hooks, exists: existsSync },
    which: (name: string, path: string | undefined) => findExecutable(name, path, directory),
  };
  switch (launch.kind) {
    case 'provider': {
      const provider = providers.find(launch.provider);
      if (provider === null) throw new FailureError('unknown-provider', { provider: launch.provider });
      const options = planOptions(provider, transport, launch.options ?? {}, launch.arguments);
      if ('failure' in options) throw FailureError.from(options.failure);
      const given = options.arguments;
      const isKnownVersion = providers.isKnownVersion(provider.id);
      const plan = accepted(
        planLaunch(provider, { ...scene, arguments: given, transport, session, prompt, isKnownVersion }),
      );
      return { ...plan, provider: provider.id, stem: provider.id, given };
    }
    case 'command': {
      const plan = accepted(planCommand({ ...scene, command: launch.command }));
      return { ...plan, provider: 'command', stem: launch.command[0] ?? 'session', given: [] };
    }
  }
}

function accepted(outcome: LaunchOutcome): LaunchPlan {
  if ('failure' in outcome) throw FailureError.from(outcome.failure);
  const { argv, environment } = outcome.plan;
  const strings = [...argv, ...Object.entries(environment).flat()];
  const bytes = strings.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0);
  if (bytes > PROGRAM_BYTES_MAX) {
    throw new FailureError('invalid-request', {
      issues: ['arguments and environment are too long together'],
    });
  }
  if (strings.some((text) => text.includes('\0'))) {
    throw new FailureError('invalid-request', { issues: ['an argument or a value contains NUL'] });
  }
  return outcome.plan;
}

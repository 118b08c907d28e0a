/**
 * Turns a launch request into a file, an argv and an environment; decides everything, starts nothing.
 *
 * The SSH agent's socket goes to commands and shells, not to agents. It is no secret from a program of the same user,
 * but it is the means to act elsewhere in the user's name: a person who runs a command means it with their own reach
 * (`git push` works as in any terminal), while an agent chooses its commands itself and gets that reach only when its
 * launch sets the variable.
 */
import { basename } from 'node:path';
import { failure, type AgentProtocolId, type Failure, type Transport } from '@roost/protocol';
import { childEnvironment } from './child-environment.ts';
import { planArguments, type SessionChoice } from './command-line.ts';
import type { ProviderManifest, ProviderStructured } from './manifest.ts';
import { planHooks, type HookPlace } from './hook-plan.ts';
import { isReadable } from './readable-provider.ts';
import { searchPaths } from './search-path.ts';

export interface LaunchPlan {
  /** Absolute path. */
  readonly file: string;
  /** argv[0] and the arguments. */
  readonly argv: readonly string[];
  /** What of it may be stored and told: the first prompt is the agent's alone, and what makes it report is nobody's choice. */
  readonly shown: readonly string[];
  /** The child's whole environment. */
  readonly environment: Record<string, string>;
  /** The provider's own session that this launch makes or runs on; null when that is not known yet. */
  readonly providerSessionId: string | null;
  /** How it is spoken with; null: it is typed to, or its bytes are all that there is. */
  readonly conversation: PlannedConversation | null;
  /** Its hooks report into the session's directory. */
  readonly reports: boolean;
  /** The first prompt is in none of the arguments: it is to be typed, once its composer takes it. */
  readonly typesPrompt: boolean;
}

export interface PlannedConversation {
  readonly protocol: AgentProtocolId;
  /** The provider's own session that the driver goes on with when it opens; null for a new one, or when arguments choose it. */
  readonly resume: string | null;
}

export type LaunchOutcome = { readonly plan: LaunchPlan } | { readonly failure: Failure };

export interface LaunchScene {
  /** The node's own environment; the child gets a selection of it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Variables that the launch sets. */
  readonly set?: Readonly<Record<string, string>>;
  /** Without it, nothing is made to report. */
  readonly hooks?: HookPlace;
  /** Finds an executable; `path` is the PATH that the child will have. */
  readonly which: (name: string, path: string | undefined) => string | null;
}

const FALLBACK_SHELL = '/bin/sh';
/** Shells that take `-l` for "as at a login" beside other arguments. */
const LOGIN_OPTION_SHELLS: ReadonlySet<string> = new Set([
  'sh',
  'bash',
  'zsh',
  'fish',
  'dash',
  'ash',
  'ksh',
  'mksh',
  'nu',
]);

const COMMAND_INHERIT: readonly string[] = ['SSH_AUTH_SOCK'];

export interface ProviderLaunch extends LaunchScene {
  readonly arguments: readonly string[];
  readonly transport: Transport;
  /** Its own session: a new id to assign, or the one to run on. */
  readonly session: SessionChoice;
  /** First prompt; null for none. */
  readonly prompt: string | null;
  /** The version that is started was seen to do what is said of the provider. */
  readonly isKnownVersion: boolean;
}

/** Fails with provider-not-installed; session-record-not-resumable; prompt-unsupported. */
export function planLaunch(provider: ProviderManifest, scene: ProviderLaunch): LaunchOutcome {
  const { transport } = scene;
  const own = provider.transports[transport];
  if (scene.session.kind === 'resume' && own.resume === null) {
    return { failure: failure('session-record-not-resumable', { provider: provider.id, transport }) };
  }
  // Whoever lists processes reads arguments, and what begins with a dash may be taken for an option.
  const mayType = transport === 'pty' && scene.isKnownVersion && isReadable(provider);
  const planned = planArguments(own, provider.commandLine, { ...scene, mayType });
  if (planned === null)
    return { failure: failure('prompt-unsupported', { provider: provider.id, transport }) };
  const environment = childEnvironment({
    parent: scene.environment,
    inherit: provider.inheritEnvironment,
    scrub: provider.scrubEnvironment,
    set: scene.set ?? {},
  });
  const file = findLaunchFile(provider, environment, scene.which);
  if (file === null) {
    const { executable } = provider;
    const executables = executable.kind === 'search' ? [...executable.names] : [FALLBACK_SHELL];
    return { failure: failure('provider-not-installed', { provider: provider.id, executables }) };
  }
  const hooks = planHooks(provider, scene, environment);
  const structured = structuredOf(provider, transport);
  const leading = [
    ...provider.leadingArguments.filter((one) => !planned.shown.includes(one)),
    ...(structured?.arguments ?? []),
  ];
  const front = [file.name, ...(file.isLogin ? ['-l'] : [])];
  return {
    plan: {
      file: file.path,
      argv: [...front, ...leading, ...(hooks?.arguments ?? []), ...planned.arguments],
      shown: [...front, ...leading, ...planned.shown],
      environment: { ...environment, ...hooks?.environment },
      providerSessionId: planned.sessionId,
      conversation: structured === null ? null : conversationOf(structured, scene.session),
      reports: hooks !== null,
      typesPrompt: planned.typesPrompt,
    },
  };
}

/** How a provider is spoken with over a transport; null when it is not. */
export function structuredOf(
  { transports, structured }: Pick<ProviderManifest, 'transports' | 'structured'>,
  transport: Transport,
): ProviderStructured | null {
  return transports[transport].prompt === 'spoken' ? (structured ?? null) : null;
}

function conversationOf(
  { protocol, resumedBy }: ProviderStructured,
  session: SessionChoice,
): PlannedConversation {
  return { protocol, resume: resumedBy === 'driver' && session.kind === 'resume' ? session.id : null };
}

interface LaunchFile {
  readonly path: string;
  /** argv[0]. */
  readonly name: string;
  /** It is a shell that takes an option for "as at a login". */
  readonly isLogin: boolean;
}

/** The program that a launch starts; null when there is none. `environment`: what the child will have. */
export function findLaunchFile(
  provider: Pick<ProviderManifest, 'executable'>,
  environment: Readonly<Record<string, string | undefined>>,
  which: LaunchScene['which'],
): LaunchFile | null {
  const { executable } = provider;
  switch (executable.kind) {
    case 'search': {
      for (const paths of searchPaths(provider, environment)) {
        for (const name of executable.names) {
          const path = which(name, paths);
          if (path !== null) return { path, name, isLogin: false };
        }
      }
      return null;
    }
    case 'login-shell': {
      const { SHELL: wanted, PATH: paths } = environment;
      const path = (wanted === undefined ? null : which(wanted, paths)) ?? which(FALLBACK_SHELL, paths);
      if (path === null) return null;
      const name = basename(path);
      return { path, name, isLogin: LOGIN_OPTION_SHELLS.has(name) };
    }
  }
}

/** A plain command, run with its person's reach and no shell in between. */
export function planCommand(scene: LaunchScene & { readonly command: readonly string[] }): LaunchOutcome {
  const environment = childEnvironment({
    parent: scene.environment,
    inherit: COMMAND_INHERIT,
    scrub: [],
    set: scene.set ?? {},
  });
  const [name = ''] = scene.command;
  const file = scene.which(name, environment.PATH);
  if (file === null) return { failure: failure('command-not-found', { command: name }) };
  const argv = scene.command;
  return {
    plan: {
      file,
      argv,
      shown: argv,
      environment,
      providerSessionId: null,
      conversation: null,
      reports: false,
      typesPrompt: false,
    },
  };
}

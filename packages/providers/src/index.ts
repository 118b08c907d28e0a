/** The programs that Roost launches by name, and how a launch is planned. */
import { claude } from './claude/manifest.ts';
import { codex } from './codex/manifest.ts';
import type { ProviderManifest } from './manifest.ts';
import { shell } from './shell/manifest.ts';

export const PROVIDERS: readonly ProviderManifest[] = [claude, codex, shell];

export function findProvider(id: string): ProviderManifest | null {
  return PROVIDERS.find((provider) => provider.id === id) ?? null;
}

export type { ProviderManifest } from './manifest.ts';
export { childEnvironment, type ChildEnvironmentPlan } from './child-environment.ts';
export { findExecutable } from './executable.ts';
export type { SessionChoice } from './command-line.ts';
export { runtimeCapabilities } from './runtime-capabilities.ts';
export {
  planCommand,
  planLaunch,
  type LaunchOutcome,
  type LaunchPlan,
  type LaunchScene,
  type ProviderLaunch,
} from './launch.ts';

/** The programs that Roost launches by name, and how a launch is planned. */
import { amp } from './amp/manifest.ts';
import { claude } from './claude/manifest.ts';
import { codex } from './codex/manifest.ts';
import { copilot } from './copilot/manifest.ts';
import { cursorAgent } from './cursor-agent/manifest.ts';
import { gemini } from './gemini/manifest.ts';
import { grok } from './grok/manifest.ts';
import { kimi } from './kimi/manifest.ts';
import type { ProviderManifest } from './manifest.ts';
import { opencode } from './opencode/manifest.ts';
import { qwen } from './qwen/manifest.ts';
import { shell } from './shell/manifest.ts';

export const PROVIDERS: readonly ProviderManifest[] = [
  claude,
  codex,
  gemini,
  opencode,
  qwen,
  kimi,
  grok,
  copilot,
  amp,
  cursorAgent,
  shell,
];

export function findProvider(id: string): ProviderManifest | null {
  return PROVIDERS.find((provider) => provider.id === id) ?? null;
}

export type {
  ProviderManifest,
  ProviderOption,
  ProviderStructured,
  ProviderTransport,
  ProviderVersion,
  VersionRange,
} from './manifest.ts';
export type {
  AgentDriver,
  AgentProtocol,
  DriverOpening,
  DriverPort,
  InteractionAnswer,
} from './agent-driver.ts';
export { DRIVER_LINE_BYTES_MAX } from './agent-driver.ts';
export { AGENT_PROTOCOLS, findAgentProtocol } from './agent-protocols.ts';
export { LOGIN_REQUIRED } from './blocked.ts';
export { childEnvironment, type ChildEnvironmentPlan } from './child-environment.ts';
export { findExecutable } from './executable.ts';
export type {
  HistoryDatabase,
  HistoryFiles,
  HistoryItem,
  HistoryPlace,
  HistoryReader,
  HistorySummary,
  ProviderHistory,
} from './history.ts';
export { boundText, cutToBytes, eventName } from './agent-text.ts';
export { readObject, type JsonObject } from './json-object.ts';
export { genericProvider, type ProviderDefinition } from './generic/manifest.ts';
export type { SessionChoice } from './command-line.ts';
export { asRawTerminal } from './raw-terminal.ts';
export { REPORT_BYTES_MAX, REPORT_SUFFIX, REPORTS_DIRECTORY, type ProviderHooks } from './hook-report.ts';
export { planHooks } from './hook-plan.ts';
export { readComposer, type ComposerRule } from './composer-rule.ts';
export { readScreen } from './read-screen.ts';
export type { ScreenRule, ScreenVerdict } from './screen-rule.ts';
export { isReadable, type ReadableProvider } from './readable-provider.ts';
export { runtimeCapabilities } from './runtime-capabilities.ts';
export { expandHome, searchPaths } from './search-path.ts';
export { optionValues, planOptions, type OptionOutcome } from './session-options.ts';
export { placeOfVersion, type VersionPlace } from './version-range.ts';
export {
  findLaunchFile,
  structuredOf,
  planCommand,
  planLaunch,
  type LaunchOutcome,
  type LaunchPlan,
  type LaunchScene,
  type PlannedConversation,
  type ProviderLaunch,
} from './launch.ts';

// The real CLIs, run against the mock model server: installation, scratch homes, first-run screens.
export { type RealCli, RegistryUnreachable, ensureRealCli } from './real-cli/install.ts';
export { PINNED, type RealCliName, type TerminalCliName, TERMINAL_CLIS } from './real-cli/versions.ts';
export { type HomeOptions, HOMES, trustFolder, claudeEnvironment, codexHome } from './real-cli/homes.ts';
export {
  type FirstRunOptions,
  type FirstRunPassed,
  passFirstRunScreens,
} from './real-cli/first-run-screens.ts';

// The real CLIs that the lab runs, each at the version its screens, streams and start-up facts were seen with.

export type TerminalCliName = 'claude' | 'codex' | 'gemini' | 'opencode' | 'qwen';
type AcpAdapterName = 'claude-code-acp' | 'codex-acp';
/** Also the name of the executable. */
export type RealCliName = TerminalCliName | AcpAdapterName;

export interface RegistryPackage {
  packageName: string;
  version: string;
  /** An adapter takes `--version` for the start of a conversation on its standard input. */
  answersVersion: boolean;
}

export const TERMINAL_CLIS: readonly TerminalCliName[] = ['claude', 'codex', 'gemini', 'opencode', 'qwen'];

export const PINNED: Readonly<Record<RealCliName, RegistryPackage>> = {
  claude: { packageName: '@anthropic-ai/claude-code', version: '2.1.197', answersVersion: true },
  codex: { packageName: '@openai/codex', version: '0.171.0', answersVersion: true },
  gemini: { packageName: '@google/gemini-cli', version: '0.61.0', answersVersion: true },
  opencode: { packageName: 'opencode-ai', version: '1.18.33', answersVersion: true },
  qwen: { packageName: '@qwen-code/qwen-code', version: '0.15.10', answersVersion: true },
  'claude-code-acp': {
    packageName: '@zed-industries/claude-code-acp',
    version: '0.16.2',
    answersVersion: false,
  },
  'codex-acp': { packageName: '@zed-industries/codex-acp', version: '0.16.0', answersVersion: false },
};

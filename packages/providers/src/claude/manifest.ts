import { NETWORK_ENVIRONMENT, type ProviderManifest } from '../manifest.ts';

/** Claude Code. It tells its children by environment that they run inside it; a session starts with none of that. */
export const claude: ProviderManifest = {
  id: 'claude',
  displayName: 'Claude Code',
  executable: { kind: 'search', names: ['claude'] },
  leadingArguments: [],
  inheritEnvironment: [
    ...NETWORK_ENVIRONMENT,
    'ANTHROPIC_*',
    'CLAUDE_CODE_*',
    'CLAUDE_CONFIG_DIR',
    'IS_SANDBOX',
    'DISABLE_AUTOUPDATER',
    'DISABLE_TELEMETRY',
    'DISABLE_ERROR_REPORTING',
    'MAX_THINKING_TOKENS',
    // Models behind a cloud vendor's own sign-in.
    'AWS_*',
    'CLOUD_ML_REGION',
    'GOOGLE_APPLICATION_CREDENTIALS',
    'GOOGLE_CLOUD_PROJECT',
    'VERTEX_REGION_*',
  ],
  scrubEnvironment: [
    'CLAUDECODE',
    'CLAUDE_CODE_ENTRYPOINT',
    'CLAUDE_CODE_SESSION_ID',
    'CLAUDE_CODE_CHILD_SESSION',
    'CLAUDE_CODE_SSE_PORT',
    'CLAUDE_EFFORT',
    'CLAUDE_PROJECT_DIR',
    'AI_AGENT',
  ],
};

import type { AgentProtocolId, SessionOptions, Transport } from '@roost/protocol';
import type { ProviderHistory } from './history.ts';
import type { Saying } from './command-line.ts';
import type { ComposerRule } from './composer-rule.ts';
import type { ProviderHooks } from './hook-report.ts';
import type { ScreenRule } from './screen-rule.ts';

/**
 * What Roost knows about a program that it can launch by name, as data. Every field is read by a launch or by whoever looks for the
 * program; a fact that nothing reads does not belong here.
 */
export interface ProviderManifest {
  readonly id: string;
  readonly displayName: string;
  readonly executable: ProviderExecutable;
  /** How its version is asked; null: there is nothing to ask, and what is said here holds for every version. */
  readonly version: ProviderVersion | null;
  /** Put in front of the caller's arguments, each unless the caller gives it too. */
  readonly leadingArguments: readonly string[];
  /** Variables taken from the node's environment beyond the common ones; a trailing `*` stands for any rest of the name. */
  readonly inheritEnvironment: readonly string[];
  /** Variables never taken from the node's environment, though a pattern would let them in. */
  readonly scrubEnvironment: readonly string[];
  /** What it can be relied on for, by transport. */
  readonly transports: Readonly<Record<Transport, ProviderTransport>>;
  /** What is read elsewhere about a transport, and was never seen to work: shown, and not relied on. */
  readonly unverifiedTransports?: Readonly<Partial<Record<Transport, ProviderTransport>>>;
  /** Session options that it has; a launch that asks for another is refused. */
  readonly options: ProviderOptions;
  readonly commandLine: ProviderCommandLine;
  /** Command that installs it; null when there is none that always works. */
  readonly install: string | null;
  /** null: it needs no login. */
  readonly login: ProviderLogin | null;
  /** How it is made to report. */
  readonly hooks?: ProviderHooks;
  /** What a person presses in its terminal to end a turn, one after the other; otherwise Ctrl-C, as for any program. */
  readonly interruptKeys?: readonly string[];
  /** How its screen is read. */
  readonly screen?: readonly ScreenRule[];
  /** Where it keeps its sessions, and how they are read. */
  readonly history?: ProviderHistory;
  /** Where what a person has typed stands on it. */
  readonly composer?: ComposerRule;
  /** How it is spoken with over pipes, where its `pipe` transport takes spoken prompts. */
  readonly structured?: ProviderStructured;
}

/** A structured protocol on its standard streams. */
export interface ProviderStructured {
  readonly protocol: AgentProtocolId;
  /** What makes it speak that, in front of the caller's arguments. */
  readonly arguments: readonly string[];
  /** What chooses the session that is gone on with: `resume` of the transport, or the driver when it opens. */
  readonly resumedBy: 'arguments' | 'driver';
  /** Session options that it has then, where they are others than in its terminal. */
  readonly options?: ProviderOptions;
}

export interface ProviderVersion {
  readonly arguments: readonly string[];
  /** Asking makes it write into the home directory, or nobody has looked whether it does: it gets an empty one. */
  readonly scratchHome: boolean;
  /** Versions for which the rest is true; null: none was ever seen to do what is said of it. */
  readonly known: VersionRange | null;
}

/** `from` is inside, `below` is not; null: no end. */
export interface VersionRange {
  readonly from: string;
  readonly below: string | null;
}

export type ProviderOptions = Readonly<Partial<Record<keyof SessionOptions, ProviderOption>>>;

/** How one option is said on the command line. A caller's own arguments that say the same win: `saidBy` names them. */
export type ProviderOption = Saying &
  (
    | {
        readonly kind: 'value';
        /** `{value}` stands for the value; a list has them once for each. */
        readonly arguments: readonly string[];
        /** All that it takes; null: any. */
        readonly values: readonly string[] | null;
      }
    | { readonly kind: 'choice'; readonly choices: Readonly<Record<string, readonly string[]>> }
  );

/** Whether somebody has logged in, as far as that can be told without the network. */
interface ProviderLogin {
  /** Command with which a person logs in. */
  readonly command: string;
  /** Variables of the node's environment that are credentials, or choose a service with a sign-in of its own. */
  readonly environment: readonly string[];
  readonly evidence: LoginEvidence | null;
}

type LoginEvidence =
  /** Files in its own directory. With one of the credentials: yes. Without the directory it never ran: no. Otherwise unknown. */
  | {
      readonly kind: 'files';
      /** Variable that moves the directory. */
      readonly variable: string | null;
      /** Where it is otherwise; `~` is the home directory. */
      readonly directory: string;
      readonly credentials: readonly string[];
    }
  /** It says so itself, in either output. */
  | {
      readonly kind: 'ask';
      readonly arguments: readonly string[];
      readonly yes: RegExp;
      readonly no: RegExp;
    };

/** What a launch and a resume can rely on with one transport. null: not known to work. */
export interface ProviderTransport {
  readonly identity: ProviderIdentity | null;
  /** Arguments that run one of its own sessions on, in front of or behind the others; `{id}` stands for the session. */
  readonly resume: { readonly arguments: readonly string[]; readonly at: 'front' | 'end' } | null;
  /**
   * It takes prompts: pasted into its composer and sent by Enter; the first one by these arguments, `{prompt}` among them, where
   * its composer cannot be waited for. spoken: all of them are said in its structured protocol, none by an argument.
   */
  readonly prompt: readonly string[] | 'spoken' | null;
}

/** How its own session becomes known. */
type ProviderIdentity =
  /** The launch gives it one. */
  | { readonly kind: 'assigned'; readonly arguments: readonly string[]; readonly format: 'uuid' }
  /** It makes its own and tells later. */
  | { readonly kind: 'reported' };

/** As much of its command line as it takes to tell options from prompts: a resume gives options again, never a prompt. */
export interface ProviderCommandLine {
  /** Options that take words behind them: exactly one, one that is no option, or all up to the next option. */
  readonly values: Readonly<Record<string, 'one' | 'optional' | 'many'>>;
  /** Options that choose, move or hide the session: with one of them, none is assigned; none is given again. */
  readonly choosesSession: readonly string[];
  /** Options with which it shows no composer, or one that is not empty: its first prompt is not typed then. */
  readonly withoutComposer?: readonly string[];
}

/** Nothing but a terminal, or pipes. */
export const RAW_TRANSPORT: ProviderTransport = { identity: null, resume: null, prompt: null };

/** It tells its session when it opens one, and its driver opens one of before. */
export const SPOKEN_TRANSPORT: ProviderTransport = {
  identity: { kind: 'reported' },
  resume: { arguments: [], at: 'front' },
  prompt: 'spoken',
};

type ProviderExecutable =
  /** The first of these names that is found on the PATH, then the first one in these directories; `~` is the home directory. */
  | { readonly kind: 'search'; readonly names: readonly string[]; readonly places: readonly string[] }
  /** The user's shell, started as at a login. */
  | { readonly kind: 'login-shell' };

/** Where installers put programs, whether or not a service manager's PATH has them. */
export const USUAL_PLACES: readonly string[] = [
  '~/.local/bin',
  '~/.bun/bin',
  '~/.npm-global/bin',
  '/opt/homebrew/bin',
  '/usr/local/bin',
];

/** Tells a program that it runs inside an agent: then some refuse to start, hide their interface, or join that agent's session. */
export const NESTED_AGENT_MARKERS: readonly string[] = [
  'AI_AGENT',
  'CLAUDECODE',
  'CLAUDE_CODE_ENTRYPOINT',
  'CLAUDE_CODE_SESSION_ID',
  'CLAUDE_CODE_CHILD_SESSION',
  'CLAUDE_CODE_SSE_PORT',
  'CLAUDE_EFFORT',
  'CLAUDE_PROJECT_DIR',
  'CODEX_SANDBOX',
  'CODEX_SANDBOX_NETWORK_DISABLED',
  'GEMINI_CLI',
  'GEMINI_CLI_NO_RELAUNCH',
  'GEMINI_CWD',
  'GEMINI_PROJECT_DIR',
  'GEMINI_SESSION_ID',
  'QWEN_CODE',
  'QWEN_CODE_NO_RELAUNCH',
  'OPENCODE',
  'OPENCODE_PID',
  'CURSOR_AGENT',
];

/** Of the terminal that the node was started from, or of a build machine: they take colours, or the whole interface, away. */
export const FOREIGN_TERMINAL: readonly string[] = [
  'CI',
  'CLICOLOR',
  'COLORTERM',
  'FORCE_COLOR',
  'NO_COLOR',
  'TERM',
  'TERM_PROGRAM',
  'TERM_PROGRAM_VERSION',
];

/** How an agent reaches its model from behind a proxy or a private certificate authority. */
export const NETWORK_ENVIRONMENT: readonly string[] = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'all_proxy',
  'no_proxy',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
];

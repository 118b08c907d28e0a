import type { Transport } from '@roost/protocol';

/**
 * What Roost knows about a program that it can launch by name, as data. Every field is read by `planLaunch`; a fact that
 * nothing reads does not belong here.
 */
export interface ProviderManifest {
  readonly id: string;
  readonly displayName: string;
  readonly executable: ProviderExecutable;
  /** Put in front of the caller's arguments, each unless the caller gives it too. */
  readonly leadingArguments: readonly string[];
  /** Variables taken from the node's environment beyond the common ones; a trailing `*` stands for any rest of the name. */
  readonly inheritEnvironment: readonly string[];
  /** Variables never taken from the node's environment, though a pattern would let them in. */
  readonly scrubEnvironment: readonly string[];
  /** What it can be relied on for, by transport. */
  readonly transports: Readonly<Record<Transport, ProviderTransport>>;
  readonly commandLine: ProviderCommandLine;
}

/** What a launch and a resume can rely on with one transport. null: not known to work. */
export interface ProviderTransport {
  readonly identity: ProviderIdentity | null;
  /** Arguments that run one of its own sessions on, in front of or behind the others; `{id}` stands for the session. */
  readonly resume: { readonly arguments: readonly string[]; readonly at: 'front' | 'end' } | null;
  /**
   * It takes prompts: the first one behind these arguments, `{prompt}` among them; later ones pasted into its composer and sent
   * by Enter.
   */
  readonly prompt: readonly string[] | null;
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
}

/** Nothing but a terminal, or pipes. */
export const RAW_TRANSPORT: ProviderTransport = { identity: null, resume: null, prompt: null };

type ProviderExecutable =
  /** The first of these names that is found. */
  | { readonly kind: 'search'; readonly names: readonly string[] }
  /** The user's shell, started as at a login. */
  | { readonly kind: 'login-shell' };

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

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
}

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

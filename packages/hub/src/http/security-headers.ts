// Headers of every answer. The page may load what comes from the hub itself and nothing else; terminals set the styles of single elements,
// which is no matter of `style-src` when a script does it.
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  // Of answers of the API, and of whatever does not say otherwise.
  'cache-control': 'no-store',
};

/** Seconds that a browser shall come over TLS only. */
const STRICT_TRANSPORT_S = 31_536_000;
/** Of a hub that others reach over TLS. */
export const TRANSPORT_HEADERS: Readonly<Record<string, string>> = {
  'strict-transport-security': `max-age=${STRICT_TRANSPORT_S}`,
};

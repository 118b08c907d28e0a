/** For tests: a certificate that nobody has signed, made anew; null where there is no openssl. */
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface OwnCertificate {
  readonly cert: Buffer;
  readonly key: Buffer;
  /** SHA-256, 64 hexadecimal digits. */
  readonly fingerprint: string;
}

export function ownCertificate(directory: string): OwnCertificate | null {
  const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
  const facts = ['-days', '1', '-nodes', '-subj', '/CN=localhost'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
  try {
    execFileSync('openssl', ['req', '-x509', ...facts, ...curve, '-out', cert, '-keyout', key], {
      stdio: 'ignore',
    });
  } catch {
    return null;
  }
  const text = readFileSync(cert);
  const fingerprint = new X509Certificate(text).fingerprint256.replaceAll(':', '').toLowerCase();
  return { cert: text, key: readFileSync(key), fingerprint };
}

// The configuration of a hub: `config.json` in its directory, written by people. Everything may be left out; what is not understood is
// refused at the start, by the name of its place.
import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import * as z from 'zod';
import { FailureError } from '@roost/protocol';
import { systemErrorCode } from '@roost/storage';

const CONFIG_BYTES_MAX = 64 * 1024;
export const HUB_PORT_DEFAULT = 18_320;

/** Where nodes and browsers find the hub: a scheme, a host, perhaps a port, and nothing else. */
const PublicUrl = z.url({ protocol: /^https?$/ }).transform((text, context) => {
  const url = new URL(text);
  if (url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '') return url.origin;
  context.addIssue('not an origin, such as https://hub.example.org');
  return z.NEVER;
});

export const HubConfig = z.strictObject({
  listen: z
    .strictObject({
      /** An address of this machine: loopback, or any when there is a certificate. */
      host: z
        .string()
        .refine((host) => isIP(host) !== 0, 'not an IP address')
        .default('127.0.0.1'),
      /** 0: any free one. null: the usual one, or the first free one after it. */
      port: z.int().min(0).max(65_535).nullable().default(null),
    })
    .prefault({}),
  /** From what is listened on, unless given. */
  publicUrl: PublicUrl.nullable().default(null),
  /** Files in PEM; paths from the directory of the hub. */
  tls: z
    .strictObject({ cert: z.string().min(1).max(4_096), key: z.string().min(1).max(4_096) })
    .nullable()
    .default(null),
});
export type HubConfig = z.infer<typeof HubConfig>;

/** @throws FailureError: home-unusable. */
export function readConfig(path: string): HubConfig {
  const parsed = HubConfig.safeParse(readJson(path));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw unusable(
      path,
      `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not understood'}`,
      parsed.error,
    );
  }
  const { listen, publicUrl, tls } = parsed.data;
  if (publicUrl === null && ['0.0.0.0', '::'].includes(listen.host))
    throw unusable(path, 'publicUrl: it is needed where any address is listened on');
  if (tls === null && !isLoopback(listen.host))
    throw unusable(path, 'listen.host: others reach that address, and there is no tls');
  return parsed.data;
}

export interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
  /**
   * SHA-256 by which it is known when it vouches for itself, 64 hexadecimal digits; null: others vouch for it, and the next one will do as well.
   */
  readonly pin: string | null;
}

/** null: none is configured. @throws FailureError: home-unusable. */
export function readCertificate(home: string, { tls }: HubConfig): Certificate | null {
  if (tls === null) return null;
  const read = (name: string) => {
    const path = resolve(home, name);
    try {
      return readFileSync(path);
    } catch (cause) {
      throw unusable(path, 'it cannot be read', cause);
    }
  };
  const certificate = { cert: read(tls.cert), key: read(tls.key) };
  try {
    createSecureContext(certificate);
  } catch (cause) {
    throw unusable(resolve(home, tls.cert), 'certificate and key are none, or not of each other', cause);
  }
  return { ...certificate, pin: pinOf(certificate.cert) };
}

function pinOf(cert: Buffer): string | null {
  const certificate = new X509Certificate(cert);
  const isSelfSigned = certificate.checkIssued(certificate) && certificate.verify(certificate.publicKey);
  return isSelfSigned ? certificate.fingerprint256.replaceAll(':', '').toLowerCase() : null;
}

export function isLoopback(host: string): boolean {
  return host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

function readJson(path: string): unknown {
  let text: string;
  try {
    if (statSync(path).size > CONFIG_BYTES_MAX) throw unusable(path, 'it is too long');
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    if (cause instanceof FailureError) throw cause;
    if (systemErrorCode(cause) === 'ENOENT') return {};
    throw unusable(path, 'it cannot be read', cause);
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unusable(path, 'it is not JSON', cause);
  }
}

function unusable(path: string, reason: string, cause?: unknown): FailureError {
  return new FailureError('home-unusable', { path, reason }, { cause });
}

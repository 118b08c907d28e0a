// Which hubs this node belongs to: one file each, with the key that both sides prove. Readable by the owner alone; written whole or
// not at all.
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { FailureError, HubId, HUBS_MAX, NodeName } from '@roost/protocol';
import { type Log, systemErrorCode } from '@roost/storage';
import { readSmallFile } from '../read-small-file.ts';

const FILE_BYTES_MAX = 8 * 1024;

export const Membership = z.strictObject({
  hubId: HubId,
  url: z.string().max(1_024),
  nodeName: NodeName,
  /** 32 bytes in hexadecimal. */
  key: z.string().regex(/^[0-9a-f]{64}$/),
  /** SHA-256 of the hub's certificate, when the invitation named it; null: a certificate that this machine trusts. */
  fingerprint: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .nullable(),
  joinedAt: z.iso.datetime(),
});
export type Membership = z.infer<typeof Membership>;

/** Files that are none are left alone, and said in the log. */
export function readMemberships(directory: string, log: Log): Membership[] {
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch {
    return [];
  }
  const memberships: Membership[] = [];
  for (const name of names.filter((one) => one.endsWith('.json')).sort()) {
    const file = readSmallFile(join(directory, name), FILE_BYTES_MAX);
    const membership = 'content' in file ? parse(file.content) : null;
    if (membership !== null && name === fileName(membership.hubId)) memberships.push(membership);
    else log.warn({ directory, name }, 'not the file of a hub');
  }
  return memberships.slice(0, HUBS_MAX);
}

/** @throws FailureError: storage-full, storage-failed. */
export function writeMembership(directory: string, membership: Membership): void {
  const path = join(directory, fileName(membership.hubId));
  const partial = `${path}.${process.pid}`;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    rmSync(partial, { force: true });
    const file = openSync(partial, 'wx', 0o600);
    try {
      writeSync(file, `${JSON.stringify(membership, null, 2)}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(partial, path);
    syncDirectory(directory);
  } catch (cause) {
    removeQuietly(partial);
    throw storageFailure(cause);
  }
}

/** @throws FailureError: storage-full, storage-failed. */
export function removeMembership(directory: string, hubId: HubId): void {
  try {
    rmSync(join(directory, fileName(hubId)), { force: true });
    syncDirectory(directory);
  } catch (cause) {
    throw storageFailure(cause);
  }
}

function storageFailure(cause: unknown): FailureError {
  const code = systemErrorCode(cause);
  const isFull = code === 'ENOSPC' || code === 'EDQUOT';
  return new FailureError(isFull ? 'storage-full' : 'storage-failed', undefined, { cause });
}

/** What is left of a failed attempt: why that failed is told, not this. */
function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The directory itself is none.
  }
}

function fileName(hubId: HubId): string {
  return `${hubId}.json`;
}

function parse(content: string): Membership | null {
  try {
    return Membership.safeParse(JSON.parse(content)).data ?? null;
  } catch {
    return null;
  }
}

function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

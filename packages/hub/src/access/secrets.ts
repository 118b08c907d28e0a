// Secrets are 32 random bytes and are stored as SHA-256. They are looked up by that hash: what the time of a look-up tells is about the
// hash, which nobody can steer towards one that is stored.
import { createHash } from 'node:crypto';

/** That many random bytes. */
export type RandomBytes = (count: number) => Buffer;

/** 16 hexadecimal digits. */
export function newId(random: RandomBytes): string {
  return random(8).toString('hex');
}

/** 64 hexadecimal digits. */
export function newSecret(random: RandomBytes): string {
  return random(32).toString('hex');
}

/** 64 hexadecimal digits. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

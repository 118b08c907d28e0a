// Slows down whoever guesses. Secrets are too long to be guessed; this keeps the guessing from costing the hub much, and says so early. It
// counts failures alone, so that nobody can keep somebody else out by failing: ask `failed` when authentication failed, and `check` only
// before what needs no credential (redeeming a link, enrolling a node).
import { isIPv6 } from 'node:net';
import { FailureError } from '@roost/protocol';

/** Milliseconds in which failures count. */
export const ATTEMPTS_WINDOW_MS = 60_000;
/** Failures in that time: of one peer, and of all. */
export const ATTEMPTS_OF_PEER_MAX = 10;
export const ATTEMPTS_MAX = 1_000;
/** Peers that are remembered; the one that failed the longest ago makes room. */
const PEERS_MAX = 1_024;

export class Attempts {
  readonly #monotonic: () => number;
  /** By peer, the one that failed last at the end; times of failures in rising order. */
  readonly #peers = new Map<string, number[]>();
  readonly #all: number[] = [];

  /** `monotonic`: milliseconds that only grow. */
  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** `address`: of the peer. @throws FailureError: rate-limited, with `retryAfterMs`. */
  check(address: string): void {
    const now = this.#monotonic();
    const own = this.#peers.get(peerOf(address)) ?? [];
    drop(own, now);
    drop(this.#all, now);
    const waits = [waitOf(own, ATTEMPTS_OF_PEER_MAX, now), waitOf(this.#all, ATTEMPTS_MAX, now)];
    const retryAfterMs = Math.max(...waits);
    if (retryAfterMs > 0) throw new FailureError('rate-limited', { retryAfterMs });
  }

  /** Counts a failure. @throws FailureError: rate-limited, for one too many: it tells that instead of what was wrong. */
  failed(address: string): void {
    this.check(address);
    const now = this.#monotonic();
    const peer = peerOf(address);
    const own = this.#peers.get(peer) ?? [];
    own.push(now);
    this.#all.push(now);
    this.#peers.delete(peer);
    this.#peers.set(peer, own);
    if (this.#peers.size <= PEERS_MAX) return;
    const [oldest] = this.#peers.keys();
    if (oldest !== undefined) this.#peers.delete(oldest);
  }

  /** Peers that are remembered. */
  get peers(): number {
    return this.#peers.size;
  }
}

function drop(times: number[], now: number): void {
  const first = times.findIndex((time) => time > now - ATTEMPTS_WINDOW_MS);
  times.splice(0, first === -1 ? times.length : first);
}

/** Milliseconds until there is room for one more. */
function waitOf(times: readonly number[], max: number, now: number): number {
  const oldest = times.length >= max ? times[0] : undefined;
  return oldest === undefined ? 0 : Math.ceil(oldest + ATTEMPTS_WINDOW_MS - now);
}

/** Whoever has one address of an IPv6 network has 2^64 of them: the network is the peer. */
function peerOf(address: string): string {
  const plain = address.replace(/%.*$/, '');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(plain)) return plain;
  const [front = '', back] = plain.toLowerCase().split('::');
  const groups = front === '' ? [] : front.split(':');
  if (back !== undefined) {
    const behind = back === '' ? [] : back.split(':');
    const missing = 8 - groups.length - behind.length;
    groups.push(...Array.from({ length: missing }, () => '0'), ...behind);
  }
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}

/** A driver in a test: every event passes its schema, every line that it writes is JSON, and it can crash at any moment. */
import { AgentEvent } from '@roost/protocol';
import { expect } from 'vitest';
import type { AgentDriver, AgentProtocol, DriverPort } from './agent-driver.ts';

const STATE_BYTES_MAX = 256 * 1024;
const NOW = Date.parse('2026-03-01T12:00:00Z');

export class DriverForTest {
  readonly #protocol: AgentProtocol;
  readonly #port: DriverPort;
  readonly events: AgentEvent[] = [];
  readonly written: Record<string, unknown>[] = [];
  driver: AgentDriver;

  constructor(protocol: AgentProtocol) {
    this.#protocol = protocol;
    this.#port = {
      emit: (event) => {
        const parsed = AgentEvent.safeParse(event);
        expect(parsed.success, `${JSON.stringify(event)}: ${parsed.error?.message ?? ''}`).toBe(true);
        this.events.push(event);
      },
      write: (line) => {
        expect(line).not.toContain('\n');
        this.written.push(JSON.parse(line) as Record<string, unknown>);
      },
      now: () => NOW,
    };
    this.driver = protocol.create(this.#port);
  }

  /** Another process goes on from what this one stored. */
  crash(): void {
    const stored = JSON.stringify(this.driver.state());
    expect(Buffer.byteLength(stored)).toBeLessThanOrEqual(STATE_BYTES_MAX);
    const next = this.#protocol.restore(this.#port, JSON.parse(stored));
    expect(next, stored.slice(0, 2_000)).not.toBeNull();
    if (next !== null) this.driver = next;
  }

  receive(...messages: readonly (object | string)[]): void {
    for (const message of messages) {
      this.driver.receive(typeof message === 'string' ? message : JSON.stringify(message));
    }
  }

  /** What came since the last look. */
  takeEvents(): AgentEvent[] {
    return this.events.splice(0);
  }

  takeWritten(): Record<string, unknown>[] {
    return this.written.splice(0);
  }

  takeKinds(): string[] {
    return this.takeEvents().map(({ kind }) => kind);
  }
}

/** Reproducible numbers from 0 up to 1 (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Mixes real lines with cut, altered and foreign ones, crashes and random calls: nothing throws, the state stays bounded. */
export function batter(
  protocol: AgentProtocol,
  lines: readonly string[],
  seed: number,
  rounds: number,
): void {
  const random = seededRandom(seed);
  const pick = <One>(from: readonly One[]): One | undefined => from[Math.floor(random() * from.length)];
  const test = new DriverForTest(protocol);
  test.driver.open({ directory: '/work', resume: random() < 0.5 ? null : 'session-1' });
  for (let round = 0; round < rounds; round += 1) {
    test.receive(mutated(pick(lines) ?? '', random));
    if (random() < 0.1) test.driver.prompt('go on');
    if (random() < 0.05) test.driver.interrupt();
    const requestId = pick(test.driver.openRequests);
    if (requestId !== undefined && random() < 0.2) {
      test.driver.answer(
        requestId,
        random() < 0.5 ? { kind: 'refuse', message: null } : { kind: 'text', text: 'x' },
      );
    }
    if (round % 50 === 0) test.crash();
    test.takeEvents();
    test.takeWritten();
  }
  test.crash();
  test.driver.closed('the end');
  expect(test.driver.openRequests).toEqual([]);
  expect(test.driver.isTurnOpen).toBe(false);
}

const STRANGE = [
  'null',
  '{}',
  '[]',
  '"',
  '-1',
  '1e400',
  '{"a":',
  'true',
  '"\\ud800"',
  '""',
  `"${'x'.repeat(700)}"`,
];

function mutated(line: string, random: () => number): string {
  const at = Math.floor(random() * line.length);
  const strange = STRANGE[Math.floor(random() * STRANGE.length)] ?? '';
  const kind = random();
  if (kind < 0.3) return line;
  if (kind < 0.45) return line.slice(0, at);
  if (kind < 0.6) return line.slice(0, at) + String.fromCharCode(random() * 0x10000) + line.slice(at + 1);
  if (kind < 0.75)
    return line.replace(/"(?:[^"\\]|\\.)*"(?=[,}\]])/g, (one) => (random() < 0.2 ? strange : one));
  // New ids: what is kept by id must not grow without bound.
  if (kind < 0.95)
    return line.replaceAll(/(?<="(?:\w*id|\w*Id)":)("[^"]*"|\d+)/g, () => JSON.stringify(`n${random()}`));
  return strange;
}

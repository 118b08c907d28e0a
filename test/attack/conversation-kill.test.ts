/**
 * The node is killed at random moments while an agent is spoken with: prompts are given, queued, requests are answered. The agent must
 * get each of them at most once, exactly once where the client was told so; and the timeline must tell each turn once, in order.
 */
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { NodeConnection } from '@roost/client';
import { addressOf, FailureError, type Session, type TimelineEntry } from '@roost/protocol';
import { attackCount } from '../support/counts.ts';
import { connectTo } from '../support/node-client.ts';
import { isAlive, RoostHome } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';

const KILLS = attackCount(100, 8);
const SEED = Number(process.env.ATTACK_SEED ?? 20_261_130);
/** Milliseconds in which each round is killed. */
const ROUND_MS = 400;
const AGENT = new URL('../support/spoken-agent.mjs', import.meta.url).pathname;

describe('kill -9 of the node in the middle of a conversation', () => {
  it(`says nothing twice, loses nothing that was taken, and tells each turn once (${KILLS} times, seed ${SEED})`, async () => {
    await using roost = new RoostHome();
    const bin = join(roost.root, 'bin');
    mkdirSync(bin);
    symlinkSync(AGENT, join(bin, 'qwen'));
    roost.environment.PATH = `${bin}:${dirname(process.execPath)}:${roost.environment.PATH ?? ''}`;
    await roost.ok(['run', '--pipe', '--name', 'agent', 'qwen']);
    const session = await roost.session('agent');
    const random = randomNumbers(SEED);
    /** Prompts that were given, and whether the client was told that they were taken. */
    const given = new Map<string, 'taken' | 'unknown'>();
    for (let round = 0; round < KILLS; round += 1) {
      const connection = await connectTo(roost);
      const { pid } = await connection.request('node.status', {});
      const working = work(connection, session, { given, round });
      await delay(random() * ROUND_MS);
      process.kill(pid, 'SIGKILL');
      await working;
      connection.close();
      await waitFor('the node to be gone', () => !isAlive(pid));
      await roost.ok(['up', '--no-hub']);
    }
    const connection = await connectTo(roost);
    try {
      // Whatever is under way comes to its end.
      await settle(connection, session);
      const { prompts, answers } = received(roost.work);
      expect(new Set(prompts).size, 'prompts received twice').toBe(prompts.length);
      expect(new Set(answers).size, 'answers received twice').toBe(answers.length);
      for (const [text, state] of given) if (state === 'taken') expect(prompts).toContain(text);
      const entries = await timeline(connection, session);
      const told = entries.flatMap(({ event }) => (event.kind === 'turn-started' ? [event.prompt] : []));
      expect(told).toEqual(prompts);
      const ends = entries.filter(({ event }) => event.kind === 'turn-finished');
      expect(ends).toHaveLength(prompts.length);
      expect(prompts.length, 'turns').toBeGreaterThan(KILLS);
      expect(answers.length, 'answered requests').toBeGreaterThan(0);
      expect((await connection.request('session.resolve', { selector: 'agent' })).pid).toBe(session.pid);
    } finally {
      connection.close();
    }
  });
});

interface Round {
  readonly given: Map<string, 'taken' | 'unknown'>;
  readonly round: number;
}

/** Until the connection is lost. */
async function work(connection: NodeConnection, session: Session, { given, round }: Round): Promise<void> {
  for (let at = 0; ; at += 1) {
    const text = at % 3 === 2 ? `ask tool-${round}-${at}` : `say word-${round}-${at}`;
    given.set(text, 'unknown');
    try {
      await connection.request('session.prompt', { ...addressOf(session), text, until: 'queued' });
      given.set(text, 'taken');
      if (at % 3 === 2) await answerAll(connection);
    } catch (error) {
      if (isLost(error)) return;
      if (!(error instanceof FailureError) || error.failure.code !== 'backend-busy') throw error;
      given.delete(text);
      await answerAll(connection).catch((cause: unknown) => {
        if (!isLost(cause)) throw cause;
      });
    }
  }
}

async function answerAll(connection: NodeConnection): Promise<void> {
  const { interactions } = await connection.request('interaction.list', {});
  for (const { id: interactionId } of interactions) {
    try {
      await connection.request('interaction.resolve', { interactionId, reply: { kind: 'allow' } });
    } catch (error) {
      if (!(error instanceof FailureError) || error.failure.code !== 'interaction-settled') throw error;
    }
  }
}

const isLost = (error: unknown): boolean =>
  error instanceof FailureError && ['connection-lost', 'shutting-down'].includes(error.failure.code);

async function settle(connection: NodeConnection, session: Session): Promise<void> {
  await waitFor(
    'the agent to rest',
    async () => {
      await answerAll(connection);
      const text = 'say done';
      try {
        await connection.request('session.prompt', { ...addressOf(session), text, until: 'answered' });
        return true;
      } catch (error) {
        if (error instanceof FailureError && error.failure.code === 'turn-in-flight') return false;
        throw error;
      }
    },
    { timeoutMs: 60_000 },
  );
}

async function timeline(connection: NodeConnection, { id: sessionId }: Session): Promise<TimelineEntry[]> {
  const entries: TimelineEntry[] = [];
  for (let from = 0; ;) {
    const page = await connection.request('session.readTimeline', { sessionId, from });
    entries.push(...page.entries);
    if (page.entries.length === 0) return entries;
    from = page.next;
  }
}

interface Line {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly prompt?: readonly { readonly text: string }[] };
}

/** What the agent read, in order. */
function received(directory: string): { prompts: string[]; answers: number[] } {
  const [name = ''] = readdirSync(directory).filter((one) => one.startsWith('received-'));
  const lines = readFileSync(join(directory, name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  return {
    prompts: lines.flatMap(({ method, params }) =>
      method === 'session/prompt' ? [params?.prompt?.[0]?.text ?? ''] : [],
    ),
    answers: lines.flatMap(({ id, method }) => (method === undefined && id !== undefined ? [id] : [])),
  };
}

/** Reproducible numbers from 0 up to 1 (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * The node is killed at random moments while several clients launch, resume, rename, stop and forget. Whatever a client was told
 * has to hold afterwards, whatever it was not told has to be one thing or the other, and nothing may run that no session owns.
 */
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { NodeConnection } from '@roost/client';
import {
  addressOf,
  FailureError,
  SpawnSpec,
  type ParamsInput,
  type Session,
  type SessionRecord,
  type SpawnReceipt,
} from '@roost/protocol';
import { attackCount } from '../support/counts.ts';
import { connectTo } from '../support/node-client.ts';
import { isAlive, RoostHome } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';

const KILLS = attackCount(200, 8);
/** More of them for as long as some kind of work has never been done. */
const KILLS_MAX = 3 * KILLS;
const CLIENTS = 3;
const SEED = Number(process.env.ATTACK_SEED ?? 20_261_129);
/** Milliseconds in which each round is killed. */
const ROUND_MS = 500;
/** Live sessions beyond which clients rather stop some than launch more. */
const LIVE_MAX = 8;
/** Rounds after which all keys of the past are asked for again; those of the round itself always are. */
const RECALL_EVERY = 25;

type Spec = ParamsInput<'spawn.submit'>;

/** What a client knows of a launch: what it asked for, and what it was told. */
interface Asked {
  readonly spec: Spec;
  told: { receipt: SpawnReceipt } | { failure: string } | null;
}

/** Writes its session and the words it was given, then waits. */
const CLAUDE = `#!/bin/sh
[ "$1" = --version ] && exec echo 2.1.197
printf '%s %s\\n' "$ROOST_SESSION_ID" "$*" >> "$HOME/started"
exec cat
`;

describe('kill -9 of the node in the middle of launches', () => {
  it(`leaves no orphan, no record without truth, no half state, and answers every key rightly (${KILLS} times, seed ${SEED})`, async () => {
    await using scene = new Scene();
    for (let round = 0; round < KILLS || (round < KILLS_MAX && scene.undone.length > 0); round += 1) {
      await scene.roost.ok(['up', '--no-hub']);
      const { pid, asked } = await scene.workUntilKilled();
      await waitFor('the node to be gone', () => !isAlive(pid));
      await scene.roost.ok(['up', '--no-hub']);
      const connection = await connectTo(scene.roost);
      try {
        await scene.expectTruth(connection, `round ${round}`);
        const keys = round % RECALL_EVERY === RECALL_EVERY - 1 ? scene.asked : asked;
        await scene.expectAnswers(connection, keys, `round ${round}`);
      } finally {
        connection.close();
      }
    }
    const connection = await connectTo(scene.roost);
    await scene.expectAnswers(connection, scene.asked, 'at the end');
    await scene.expectTruth(connection, 'at the end');
    connection.close();
    // It was no attack unless every kind of work was interrupted and some of it done.
    expect(scene.undone).toEqual([]);
    expect(scene.asked.filter(({ told }) => told === null).length, 'launches cut off').toBeGreaterThan(0);
  });
});

class Scene implements AsyncDisposable {
  readonly roost = new RoostHome();
  readonly asked: Asked[] = [];
  readonly #done = new Set<string>();
  readonly #random = randomNumbers(SEED);
  #keys = 0;

  constructor() {
    const programs = join(this.roost.root, 'bin');
    mkdirSync(programs);
    writeFileSync(join(programs, 'claude'), CLAUDE);
    chmodSync(join(programs, 'claude'), 0o755);
    this.roost.environment.PATH = `${programs}:${this.roost.environment.PATH ?? ''}`;
    mkdirSync(join(this.roost.home, 'profiles', 'spawn'), { recursive: true, mode: 0o700 });
    writeFileSync(
      join(this.roost.home, 'profiles', 'spawn', 'plain.json'),
      JSON.stringify({ revision: 'r1', provider: 'claude' }),
    );
  }

  /** Kinds of work that were never done. */
  get undone(): string[] {
    return Object.keys(WORK).filter((name) => !this.#done.has(name));
  }

  /** 0 inclusive to `limit` exclusive. */
  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  pick<One>(list: readonly One[]): One | undefined {
    return list[this.below(list.length)];
  }

  nextKey(): string {
    this.#keys += 1;
    return `launch-${this.#keys}`;
  }

  /** Launches that were asked for in this round. */
  async workUntilKilled(): Promise<{ pid: number; asked: Asked[] }> {
    const before = this.asked.length;
    const connections = await Promise.all(Array.from({ length: CLIENTS }, () => connectTo(this.roost)));
    const [first] = connections;
    if (first === undefined) throw new Error('there are clients');
    const { pid } = await first.request('node.status', {});
    const working = connections.map((connection) => this.#workUntilLost(connection));
    await delay(this.below(ROUND_MS));
    process.kill(pid, 'SIGKILL');
    await Promise.all(working);
    return { pid, asked: this.asked.slice(before) };
  }

  async #workUntilLost(connection: NodeConnection): Promise<void> {
    const lost = new Promise<void>((resolve) => connection.onClose(resolve));
    let open = true;
    void lost.then(() => (open = false));
    const { id } = await connection
      .request('workspace.list', {})
      .then(
        ({ workspaces }) =>
          workspaces[0] ?? connection.request('workspace.register', { root: this.roost.work }),
      )
      .catch(() => ({ id: 'work' }));
    while (isOpen()) {
      const names = Object.keys(WORK) as (keyof typeof WORK)[];
      // Launches are what this is about.
      const name = this.below(2) === 0 ? 'launch' : (this.pick(names) ?? 'launch');
      try {
        if (await WORK[name](this, connection, id)) this.#done.add(name);
      } catch (error) {
        // Refusals are fine: clients are in each other's way. Faults of the node are not.
        if (!(error instanceof FailureError)) throw error;
        expect(['internal-error', 'invalid-request', 'unsupported-capability']).not.toContain(
          error.failure.code,
        );
      }
    }
    connection.close();

    function isOpen(): boolean {
      return open;
    }
  }

  /** Sessions, records and processes tell the same story. */
  async expectTruth(connection: NodeConnection, when: string): Promise<void> {
    const look = async () => {
      const { sessions } = await connection.request('session.list', { includeEnded: true });
      const { records } = await connection.request('record.list', {});
      const faults = faultsOf(sessions, records, this.#runningSessions());
      return { faults, sessions, records };
    };
    let last: Awaited<ReturnType<typeof look>> | null = null;
    await waitFor(
      `the truth after ${when}`,
      async () => {
        last = await look();
        return last.faults.length === 0;
      },
      { timeoutMs: 20_000, state: () => last },
    );
  }

  async expectAnswers(connection: NodeConnection, asked: readonly Asked[], when: string): Promise<void> {
    const started = this.#started();
    for (const { spec, told } of asked) {
      const key = spec.idempotencyKey;
      const what = `${key}, ${when}`;
      const answer = await waitFor(`a decision about ${what}`, async () => {
        const result = await connection.request('spawn.result', { idempotencyKey: key });
        return result.state !== 'pending' && result;
      });
      const runs = started.filter((one) => one.key === key).map((one) => one.sessionId);
      expect(runs.length, `${what}: started at most once`).toBeLessThanOrEqual(1);
      switch (answer.state) {
        case 'accepted':
          if (told !== null) expect(told, what).toEqual({ receipt: answer.receipt });
          expect(await connection.request('spawn.submit', spec), what).toEqual(answer.receipt);
          // The program may not have come to write yet.
          await waitFor(`${what} to have started its session`, () =>
            this.#started().some(
              ({ key: of, sessionId }) => of === key && sessionId === answer.receipt.session.sessionId,
            ),
          );
          break;
        case 'failed': {
          expect(told === null || 'failure' in told, `${what}: told as failed`).toBe(true);
          const again = await connection.request('spawn.submit', spec).then(
            () => 'accepted',
            (error: unknown) => (error instanceof FailureError ? error.failure.code : 'unknown'),
          );
          expect(again, what).toBe(answer.failure.code);
          break;
        }
        case 'unknown':
          expect(runs, `${what}: never stored, never started`).toEqual([]);
          expect(told === null || 'failure' in told, `${what}: told as refused`).toBe(true);
          break;
      }
    }
  }

  #started(): { sessionId: string; key: string }[] {
    let text: string;
    try {
      text = readFileSync(join(this.roost.root, 'user', 'started'), 'utf8');
    } catch {
      return [];
    }
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => ({ sessionId: line.slice(0, 16), key: /launch-\d+/.exec(line)?.[0] ?? '' }));
  }

  /** Session ids in the environments of all processes of this home. */
  #runningSessions(): Set<string> {
    const found = new Set<string>();
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      if (!isAlive(Number(pid))) continue;
      try {
        const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
        const marker = variables.find((one) => one.startsWith('ROOST_SESSION_ID='));
        if (marker !== undefined && variables.includes(`ROOST_HOME=${this.roost.home}`)) {
          found.add(marker.slice('ROOST_SESSION_ID='.length));
        }
      } catch {
        // It has just ended.
      }
    }
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.roost[Symbol.asyncDispose]();
  }
}

/** What a client does; true when something was done. */
const WORK = {
  async launch(scene: Scene, connection: NodeConnection, workspaceId: string): Promise<boolean> {
    const { sessions } = await connection.request('session.list', {});
    if (sessions.length >= LIVE_MAX) return false;
    const key = scene.nextKey();
    const spec: Spec = {
      target: { nodeId: connection.node.id, workspaceId },
      profileId: 'plain',
      expectedRevision: 'r1',
      overrides: { arguments: { kind: 'set', value: [key] } },
      deadlineMs: scene.below(4) === 0 ? 1 + scene.below(40) : 20_000,
      idempotencyKey: key,
    };
    SpawnSpec.parse(spec);
    const asked: Asked = { spec, told: null };
    scene.asked.push(asked);
    try {
      asked.told = { receipt: await connection.request('spawn.submit', spec) };
      return true;
    } catch (error) {
      if (error instanceof FailureError && error.failure.code !== 'connection-lost') {
        asked.told = { failure: error.failure.code };
      }
      throw error;
    }
  },

  async stop(scene: Scene, connection: NodeConnection): Promise<boolean> {
    const { sessions } = await connection.request('session.list', {});
    const session = scene.pick(sessions.filter((one) => one.status === 'running'));
    if (session === undefined) return false;
    await connection.request('session.stop', { ...addressOf(session), force: true });
    return true;
  },

  async resume(scene: Scene, connection: NodeConnection): Promise<boolean> {
    const { records } = await connection.request('record.list', {});
    const record = scene.pick(records.filter((one) => one.state === 'dormant'));
    if (record === undefined) return false;
    await connection.request('record.resume', { recordId: record.id });
    return true;
  },

  async rename(scene: Scene, connection: NodeConnection): Promise<boolean> {
    const { records } = await connection.request('record.list', {});
    const record = scene.pick(records);
    if (record === undefined) return false;
    const name = `renamed-${scene.below(1_000_000)}`;
    await connection.request('record.rename', { recordId: record.id, name });
    return true;
  },

  async forget(scene: Scene, connection: NodeConnection): Promise<boolean> {
    const { records } = await connection.request('record.list', {});
    const record = scene.pick(records.filter((one) => one.activeSession === null));
    if (record === undefined) return false;
    await connection.request('record.forget', { recordId: record.id });
    return true;
  },
};

/** What does not fit together; none when all is well. */
function faultsOf(
  sessions: readonly Session[],
  records: readonly SessionRecord[],
  running: ReadonlySet<string>,
): string[] {
  const faults: string[] = [];
  const byId = new Map(sessions.map((session) => [session.id as string, session]));
  const isLive = (session: Session | undefined) =>
    session?.status === 'running' || session?.status === 'stopping';
  for (const id of running)
    if (!isLive(byId.get(id))) faults.push(`a process of ${id}, which is no live session`);
  for (const session of sessions) {
    if (session.status === 'starting') faults.push(`${session.id} is still starting`);
    if (session.status === 'lost') faults.push(`${session.id} is lost, though no keeper was`);
    if (isLive(session) && !running.has(session.id)) faults.push(`${session.id} is live without a process`);
    const record = records.find((one) => one.id === session.recordId);
    if (session.recordId !== null && record === undefined) faults.push(`${session.id} has lost its record`);
    if (isLive(session) && record !== undefined) {
      if (record.activeSession?.sessionId !== session.id) faults.push(`${record.id} does not know its run`);
      if (record.name !== session.name) faults.push(`${record.id} and its run have two names`);
    }
  }
  for (const record of records) {
    const claims = record.state === 'live' || record.state === 'identity-pending';
    const active = record.activeSession === null ? undefined : byId.get(record.activeSession.sessionId);
    if (claims !== isLive(active))
      faults.push(`${record.id} is ${record.state} with ${active?.status ?? 'no run'}`);
    if (record.generation < 1) faults.push(`${record.id} never ran`);
  }
  const names = sessions.filter(isLive).map((session) => session.name);
  if (new Set(names).size !== names.length)
    faults.push(`two live sessions have one name: ${names.join(' ')}`);
  return faults;
}

/** Numbers from 0 to 1, the same ones for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Readers lose their connection again and again, at random moments, while several clients change things and the node is killed now
 * and then. Each reader keeps nothing but its cursor; in the end each must have been told the whole journal, once and in order.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { EventCursor, NodeConnection } from '@roost/client';
import { addressOf, EVENTS_PAGE_MAX, FailureError, type NodeEvent, type UnknownEvent } from '@roost/protocol';
import { attackCount } from '../support/counts.ts';
import { seededRandom } from '../support/mutate.ts';
import { connectTo, spawnCommand } from '../support/node-client.ts';
import { isAlive, RoostHome } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';

const RECONNECTS = attackCount(1_000, 120);
const KILLS = attackCount(20, 4);
const READERS = 3;
const SEED = Number(process.env.ATTACK_SEED ?? 20_261_129);
/** Milliseconds that a connection of a reader lives, at most; often it ends before its first event. */
const READ_MS = 60;

type Random = () => number;
type Work = (connection: NodeConnection, round: number) => Promise<unknown>;

describe('readers that lose their connection at random moments', () => {
  it(`are told every event exactly once, in order, over ${RECONNECTS} connections each and ${KILLS} kills of the node (seed ${SEED})`, async () => {
    await using roost = new RoostHome();
    await roost.ok(['up', '--no-hub']);
    const random = seededRandom(SEED);
    const stop = new AbortController();
    const writers = works(roost).map((work) => keepWorking(roost, work, stop.signal));
    const readers = Array.from(
      { length: READERS },
      () => new Reader(roost, seededRandom(random() * 2 ** 32)),
    );
    const reading = Promise.all(readers.map((reader) => reader.read(RECONNECTS)));

    for (let kill = 0; kill < KILLS; kill += 1) {
      // Spread over the reading: the next kill comes when its share of connections was made.
      const due = Math.floor(((kill + random()) * RECONNECTS) / KILLS);
      await Promise.race([reading, waitForReader(readers[0], due)]);
      const pid = await roost.nodePid();
      process.kill(pid, 'SIGKILL');
      await waitFor('the node to be gone', () => !isAlive(pid));
      await roost.ok(['up', '--no-hub']);
    }
    await reading;
    stop.abort();
    const done = await Promise.all(writers);

    const connection = await connectTo(roost);
    const journal = await wholeJournal(connection);
    connection.close();
    for (const reader of readers) {
      await reader.readTo(journal.length);
      // Compared as text first: a difference of two long lists of objects takes minutes to print.
      expect(reader.sequences).toEqual(journal.map(({ sequence }) => sequence));
      expect(reader.events.findIndex((event, index) => !isSame(event, journal[index]))).toBe(-1);
    }
    expect(journal.map(({ sequence }) => sequence)).toEqual(journal.map((_, index) => index + 1));
    expect(new Set(journal.map(({ incarnation }) => incarnation)).size).toBe(KILLS + 1);
    // It was no attack unless all of the work was done, and connections ended in the middle of it.
    for (const rounds of done) expect(rounds).toBeGreaterThan(KILLS);
    expect(journal.length).toBeGreaterThan(RECONNECTS);
  });
});

/** Knows where it stopped, and nothing else. */
class Reader {
  readonly events: NodeEvent[] = [];
  connections = 0;
  readonly #roost: RoostHome;
  readonly #random: Random;
  #cursor: EventCursor = { sequence: 0 };
  #fault: string | null = null;

  constructor(roost: RoostHome, random: Random) {
    this.#roost = roost;
    this.#random = random;
  }

  get sequences(): number[] {
    return this.events.map(({ sequence }) => sequence);
  }

  async read(connections: number): Promise<void> {
    while (this.connections < connections) {
      await this.#readOnce(() => delay(Math.floor(this.#random() * READ_MS)));
    }
  }

  async readTo(last: number): Promise<void> {
    await this.#readOnce(() =>
      waitFor('the reader to have all', () => this.#cursor.sequence >= last, {
        state: () => [this.#cursor.sequence, last],
      }),
    );
  }

  async #readOnce(until: () => Promise<unknown>): Promise<void> {
    const connection = await connectTo(this.#roost).catch(passing);
    if (connection === undefined) {
      await delay(20);
      return;
    }
    this.connections += 1;
    let isOpen = true;
    const subscribed = connection.subscribeEvents(
      this.#cursor,
      (event) => {
        // What arrives after the reader has let go was not received: a program that crashed could not know it.
        if (isOpen) this.#take(event);
      },
      (resync) => {
        this.#fault ??= `a cursor of this journal was refused: ${JSON.stringify(resync)}`;
      },
    );
    const answer = subscribed.catch(passing);
    await until();
    isOpen = false;
    connection.close();
    expect((await answer)?.resyncRequired ?? false).toBe(false);
    expect(this.#fault).toBeNull();
  }

  #take(event: NodeEvent | UnknownEvent): void {
    const { sequence, incarnation, body } = event;
    if (body === null || sequence !== this.#cursor.sequence + 1) {
      this.#fault ??= `event ${sequence} came after ${this.#cursor.sequence}`;
      return;
    }
    this.#cursor = { sequence, incarnation };
    this.events.push({ ...event, body });
  }
}

function works(roost: RoostHome): Work[] {
  const directory = (name: string) => {
    const path = join(roost.root, name);
    mkdirSync(path, { recursive: true });
    return path;
  };
  const registering = (name: string): Work => {
    const root = directory(name);
    return async (connection) => {
      const { workspaces } = await connection.request('workspace.list', {});
      const there = workspaces.find((one) => one.root === root);
      if (there === undefined) await connection.request('workspace.register', { root });
      else await connection.request('workspace.unregister', { workspaceId: there.id });
    };
  };
  const renaming: Work = async (connection, round) => {
    const { records } = await connection.request('record.list', {});
    const [record] = records;
    if (record !== undefined) {
      await connection.request('record.rename', { recordId: record.id, name: `r${round}` });
      return;
    }
    const root = directory('records');
    const { workspaces } = await connection.request('workspace.list', {});
    const workspace =
      workspaces.find((one) => one.root === root) ??
      (await connection.request('workspace.register', { root }));
    await connection.request('record.index', {
      workspaceId: workspace.id,
      provider: 'claude',
      providerSession: { key: 'session-id', id: 'known' },
      name: 'r',
    });
  };
  const spawning: Work = async (connection) => {
    const { sessions } = await connection.request('session.list', { includeEnded: true });
    for (const session of sessions) {
      await connection.request('session.stop', { ...addressOf(session), force: true });
      await connection.request('session.remove', addressOf(session));
    }
    await spawnCommand(connection, directory('sessions'), ['sleep', '60']);
  };
  return [registering('a'), registering('b'), renaming, spawning];
}

/** Does it again and again, over as many connections as it takes; tells how often it was done. */
async function keepWorking(roost: RoostHome, work: Work, signal: AbortSignal): Promise<number> {
  let done = 0;
  const goesOn = () => !signal.aborted;
  while (goesOn()) {
    const connection = await connectTo(roost).catch(passing);
    if (connection === undefined) {
      await delay(20);
      continue;
    }
    try {
      while (goesOn()) {
        await work(connection, done);
        done += 1;
      }
    } catch (error) {
      passing(error);
    } finally {
      connection.close();
    }
  }
  return done;
}

/** What a killed node does to its clients, and clients to one another: nothing else may fail. */
function passing(error: unknown): undefined {
  const codes = [
    'connection-lost',
    'node-not-running',
    'connections-exhausted',
    'keeper-unavailable',
    'unknown-session',
  ];
  if (error instanceof FailureError && codes.includes(error.failure.code)) return undefined;
  throw error;
}

async function waitForReader(reader: Reader | undefined, connections: number): Promise<void> {
  while (reader !== undefined && reader.connections < connections) await delay(5);
}

async function wholeJournal(connection: NodeConnection): Promise<NodeEvent[]> {
  const journal: NodeEvent[] = [];
  for (;;) {
    const after = journal.at(-1)?.sequence ?? 0;
    const { events } = await connection.request('events.read', { after, limit: EVENTS_PAGE_MAX });
    if (events.length === 0) return journal;
    journal.push(...events);
  }
}

function isSame(event: NodeEvent, other: NodeEvent | undefined): boolean {
  return JSON.stringify(event) === JSON.stringify(other);
}

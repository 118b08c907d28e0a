/**
 * A hub with many nodes is ended again and again, kindly and hard, while commands go through it. Every node comes back by itself, none asks
 * too often, no command is done twice, and what the hub tells meanwhile it calls stale.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hubRequest, nodeRequest } from '@roost/client';
import { FailureError, type HubNode, type NodeId } from '@roost/protocol';
import { CuttableLine } from '../support/cuttable-line.ts';
import { HubHome, type TokenTarget } from '../support/hub-home.ts';
import { RoostHome } from '../support/roost-home.ts';
import { StubNode } from '../support/stub-node.ts';
import { waitFor } from '../support/wait-for.ts';

const STUBS = 50;
const RESTARTS = 5;
/** Milliseconds after the last start within which every node is back. */
const BACK_MS = 30_000;
/** Calls of one node in any second: its pauses begin at a quarter of a second and double. */
const CALLS_PER_SECOND_MAX = 3;

const hub = new HubHome();
const homes = [new RoostHome(), new RoostHome()];
const nodes = 1 + homes.length + STUBS;
const done = new Map<string, number>();
const stubs = Array.from(
  { length: STUBS },
  (_, index) =>
    new StubNode(`stub-${index}`, {
      'workspace.register': ({ root }: { root: string }) => {
        done.set(root, (done.get(root) ?? 0) + 1);
        return {
          id: `w-${done.size}`,
          root,
          kind: 'plain',
          createdAt: '2026-01-01T00:00:00.000Z',
          liveSessions: 0,
          git: null,
        };
      },
    }),
);
let line: CuttableLine;
let operator: TokenTarget;

beforeAll(async () => {
  await hub.up();
  line = await CuttableLine.to(hub.port);
  operator = await hub.user('operator', 'operator');
  await Promise.all(homes.map((home) => home.ok(['up', '--no-hub'])));
  for (const [index, home] of homes.entries()) {
    const { code } = await hub.ask('invites.create', {});
    await home.ok(['node', 'join', line.url, code, '--name', `real-${index}`]);
  }
  await Promise.all(
    stubs.map(async (stub) => stub.join(line.url, (await hub.ask('invites.create', {})).code)),
  );
  await allOnline(BACK_MS);
}, 120_000);

afterAll(async () => {
  for (const stub of stubs) stub.leave();
  await Promise.all([hub, ...homes].map((one) => one[Symbol.asyncDispose]()));
  await line[Symbol.asyncDispose]();
});

it(`${nodes} nodes come back after ${RESTARTS} restarts of their hub, and no command is done twice`, async () => {
  const real = await Promise.all(['local', 'real-0', 'real-1'].map((name) => hub.node(name)));
  const sessions = await Promise.all(
    real.map(({ id }, index) =>
      nodeRequest(operator, id, 'session.spawn', {
        directory: hub.root,
        name: `kept-${index}`,
        launch: { kind: 'command', command: ['cat'] },
      }),
    ),
  );
  await waitFor('the hub to know the sessions', async () => (await liveSessions()).length === real.length);

  const commands = new Commands();
  line.attempts.length = 0;
  for (let restart = 0; restart < RESTARTS; restart += 1) {
    // Once kindly at least, so that every view is kept.
    await hub.end(restart % 2 === 0 ? 'SIGTERM' : 'SIGKILL');
    await hub.restart();
    const seen = await hub.ask('nodes.list', {});
    expect(seen.nodes).toHaveLength(nodes);
    for (const { name, link } of seen.nodes) expect(['stale', 'online'], name).toContain(link.state);
    expect(await liveSessions()).toEqual(sessions.map(({ id }) => id).sort());
    operator = { ...operator, url: hub.url };
    line.mend(hub.port);
    await commands.some(20);
  }
  await allOnline(BACK_MS);
  await commands.some(50);
  await commands.end();

  expect(commands.outcomes.get('done') ?? 0).toBeGreaterThanOrEqual(50);
  for (const { root, outcome } of commands.sent) {
    const times = done.get(root) ?? 0;
    if (outcome === 'done') expect(times, root).toBe(1);
    else if (outcome === 'node-offline') expect(times, root).toBe(0);
    else expect(times, `${root} ${outcome}`).toBeLessThanOrEqual(1);
  }
  expect(callsInAnySecond()).toBeLessThanOrEqual((nodes - 1) * CALLS_PER_SECOND_MAX);
  expect(await liveSessions()).toEqual(sessions.map(({ id }) => id).sort());
});

/** Commands to stubs, one after the other, each of its own. */
class Commands {
  readonly sent: { readonly root: string; readonly outcome: string }[] = [];
  readonly outcomes = new Map<string, number>();
  readonly #open = new Set<Promise<void>>();
  #count = 0;

  /** A few at the same time. */
  async some(count: number): Promise<void> {
    for (let number = 0; number < count; number += 1) {
      const sending = this.#send(stubs[this.#count % STUBS]?.id, `/command-${this.#count}`);
      this.#count += 1;
      this.#open.add(sending);
      void sending.finally(() => this.#open.delete(sending));
      if (this.#open.size >= 8) await Promise.race(this.#open);
    }
  }

  async end(): Promise<void> {
    await Promise.all(this.#open);
  }

  async #send(node: NodeId | undefined, root: string): Promise<void> {
    let outcome = 'done';
    try {
      await nodeRequest(operator, node ?? '', 'workspace.register', { root });
    } catch (error) {
      outcome = error instanceof FailureError ? error.failure.code : String(error);
    }
    this.sent.push({ root, outcome });
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
  }
}

async function allOnline(timeoutMs: number): Promise<void> {
  let last: HubNode[] = [];
  await waitFor(
    'every node to be online',
    async () => {
      last = (await hub.ask('nodes.list', {})).nodes;
      return last.length === nodes && last.every(({ link }) => link.state === 'online');
    },
    {
      timeoutMs,
      everyMs: 100,
      state: () =>
        last.filter(({ link }) => link.state !== 'online').map(({ name, link }) => ({ name, link })),
    },
  );
}

async function liveSessions(): Promise<string[]> {
  const { sessions } = await hubRequest(hub.owner, 'sessions.list', {});
  return sessions.map(({ id }) => id).sort();
}

function callsInAnySecond(): number {
  const { attempts } = line;
  let most = 0;
  let from = 0;
  for (const [to, at] of attempts.entries()) {
    while ((attempts[from] ?? at) < at - 1_000) from += 1;
    most = Math.max(most, to - from + 1);
  }
  return most;
}

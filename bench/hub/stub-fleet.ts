/**
 * A process of many nodes without anything behind them, which call a hub as real ones do. Speaks to its parent in messages: each `FleetOrder`
 * is answered by a `FleetAnswer` when it is done.
 */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { hubRequest } from '@roost/client';
import { SessionId, SessionName, type Result, type Session } from '@roost/protocol';
import { StubNode } from '../../test/support/stub-node.ts';
import { answerOf } from '../child-answer.ts';
import { SESSION } from '../sample-session.ts';

type FleetOrder =
  /** Enrols so many nodes, which do not call yet. */
  | {
      readonly kind: 'enrol';
      readonly url: string;
      /** Of the hub's owner, who invites. */
      readonly socketPath: string;
      readonly first: number;
      readonly nodes: number;
    }
  /** All of them call; done when the hub follows the events of each. */
  | { readonly kind: 'call' }
  /** Each has so many sessions and has the hub read it anew; done when it has been read. */
  | { readonly kind: 'fill'; readonly sessions: number }
  /** Events of one session after the other, of one node after the other, numbered from `first`. */
  | {
      readonly kind: 'tell';
      readonly first: number;
      readonly events: number;
      /** null: as fast as it can. */
      readonly eventsPerSecond: number | null;
    };

/** Milliseconds since the epoch when the last of it was done. */
interface FleetAnswer {
  readonly at: number;
}

export interface StubFleet {
  do(order: FleetOrder): Promise<FleetAnswer>;
  close(): Promise<void>;
}

/** Whoever looks at a session sees this. */
const SCREEN: Result<'session.readScreen'> = {
  lines: ['nothing runs here', 'it only says so'],
  size: { columns: 80, rows: 24 },
  cursor: null,
  title: null,
  alternateScreen: false,
  truncated: false,
};
/** Invitations under way at once. */
const ENROLLING_MAX = 8;
/** Events of one turn when there is no pace. */
const BURST = 20;

export function startStubFleet(program: string): StubFleet {
  const child = fork(program, ['--stub-fleet'], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    do: (order) => {
      child.send(order);
      return answerOf<FleetAnswer>(child);
    },
    close: async () => {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}

export function runStubFleet(): void {
  const members: Member[] = [];
  process.on('message', (message) => {
    // From our own parent, which sends nothing else.
    void obey(members, message as FleetOrder).then(() => {
      process.send?.({ at: now() } satisfies FleetAnswer);
    });
  });
  process.once('disconnect', () => process.exit(0));
}

async function obey(members: Member[], order: FleetOrder): Promise<void> {
  switch (order.kind) {
    case 'enrol': {
      const added = Array.from({ length: order.nodes }, (_, index) => new Member(order.first + index));
      members.push(...added);
      const waiting = [...added];
      const enrolSome = async (): Promise<void> => {
        for (let member = waiting.pop(); member !== undefined; member = waiting.pop()) {
          const { code } = await hubRequest({ socketPath: order.socketPath }, 'invites.create', {});
          await member.stub.enrol(order.url, code);
        }
      };
      await Promise.all(Array.from({ length: ENROLLING_MAX }, enrolSome));
      return;
    }
    case 'call': {
      const followed = Promise.all(members.map((member) => member.followed()));
      for (const { stub } of members) stub.call();
      await followed;
      return;
    }
    case 'fill':
      await Promise.all(members.map((member) => member.fill(order.sessions)));
      return;
    case 'tell': {
      const startedAt = performance.now();
      for (let done = 0; done < order.events; done += 1) {
        if (order.eventsPerSecond !== null) {
          const early = startedAt + (done / order.eventsPerSecond) * 1_000 - performance.now();
          if (early > 1) await sleep(early);
        } else if (done % BURST === 0) await new Promise((resolve) => setImmediate(resolve));
        members[done % members.length]?.tell(order.first + done);
      }
    }
  }
}

/** One node. */
class Member {
  readonly stub: StubNode;
  #sequence = 1;
  #sessions: Session[] = [];
  #told = 0;
  #onFollowed: () => void = () => undefined;
  #onRead: () => void = () => undefined;

  constructor(number: number) {
    this.stub = new StubNode(`stub-${number}`, {
      'node.snapshot': () => this.#snapshot(),
      'events.subscribe': () => {
        this.#onFollowed();
        return { last: this.#sequence, floor: 0, resyncRequired: false };
      },
      'interaction.list': () => {
        // The last that is asked of a view that is made anew.
        this.#onRead();
        return { interactions: [], truncated: false };
      },
      'session.readScreen': () => SCREEN,
    });
  }

  followed(): Promise<void> {
    return new Promise((resolve) => (this.#onFollowed = resolve));
  }

  fill(sessions: number): Promise<void> {
    this.#sessions = Array.from({ length: sessions }, (_, index) => ({
      ...SESSION,
      id: SessionId.parse(randomBytes(8).toString('hex')),
      name: SessionName.parse(`session-${index}`),
    }));
    this.#sequence += 1;
    const { incarnation } = this.stub;
    const read = new Promise<void>((resolve) => (this.#onRead = resolve));
    this.stub.send({ kind: 'resync-required', floor: this.#sequence, last: this.#sequence, incarnation });
    return read;
  }

  /** The name of the session carries the number of the event, and the time. */
  tell(number: number): void {
    const session = this.#sessions[this.#told++ % this.#sessions.length];
    if (session === undefined) return;
    this.#sequence += 1;
    const name = SessionName.parse(`event.${number}.${Math.round(now() * 1_000)}.`);
    this.stub.send({
      kind: 'event',
      event: {
        sequence: this.#sequence,
        incarnation: this.stub.incarnation,
        at: new Date().toISOString(),
        body: { kind: 'session-changed', session: { ...session, name } },
      },
    });
  }

  #snapshot(): object {
    return { ...this.stub.emptySnapshot, sequence: this.#sequence, sessions: this.#sessions };
  }
}

function now(): number {
  return performance.timeOrigin + performance.now();
}

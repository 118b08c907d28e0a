// Keeps the rows of sessions true to what keepers tell: one idempotent path for every source of news (a reconnect, an event, the
// answer to a spawn, a death). The end of a session is stored in this order: its last output, the row with its event, then
// the keeper may forget it; a crash between any two steps repeats the later ones.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { FailureError, KeeperId, SessionId } from '@roost/protocol';
import type { ChildState, PipeStream } from '@roost/keeper/wire';
import type { KeeperEvents, KeeperLink } from '../keepers/keeper-link.ts';
import { planReconcile, type KeeperEvidence, type ReconcileAction } from '../keepers/reconcile.ts';
import type { Log } from '@roost/storage';
import { Discards } from '../spawn/discards.ts';
import { makeReportsDirectory } from '../reports/reports.ts';
import { restoreRecord } from '../records/restore-record.ts';
import type { Store, Transaction } from '../store/store.ts';
import { workspaceAround } from '../workspaces/workspaces.ts';
import { FINAL_SCROLLBACK_LINES, writeFinalScreen } from './final-screen.ts';
import { endLeftovers } from './leftovers.ts';
import { makeSessionName } from './naming.ts';
import { newSessionRow } from './new-session-row.ts';
import { OutcomeWriter } from '../store/outcome-writer.ts';
import type { PipeOutput } from './pipe-output.ts';
import { removedSessions } from './removals.ts';
import { decodeNote } from './session-note.ts';
import {
  changeSession,
  findSession,
  insertSession,
  isLive,
  isNameLive,
  liveSessionsOfOtherKeepers,
  sessionsOfKeeper,
  type SessionChange,
  type SessionRow,
} from './session-table.ts';

const COLLECT_RETRY_MS_FIRST = 200;
const COLLECT_RETRY_MS_MAX = 5_000;
/** Milliseconds that an answer waits for the end of a session to be stored: a full disk may take its time. */
const SETTLE_MS = 10_000;
/** Milliseconds that processes left behind by a dead keeper get to end by themselves. */
const LEFTOVER_GRACE_MS = 2_000;

interface LifecycleOptions {
  readonly store: Store;
  readonly output: PipeOutput;
  readonly sessionsDirectory: string;
  /** Of a session on pipes that has ended, once its output is kept and before its end is stored. */
  readonly outputKept?: (child: ChildState) => Promise<void>;
  readonly log: Log;
}

export class SessionLifecycle implements KeeperEvents {
  /** Sessions whose spawn call is under way, with the end of that. */
  readonly spawning = new Map<string, Promise<void>>();
  /** How many stops of a session are under way. */
  readonly stopping = new Map<string, number>();
  /** Launches that were given up; their sessions have no rows. */
  readonly discards: Discards;
  readonly #store: Store;
  readonly #output: PipeOutput;
  readonly #sessionsDirectory: string;
  readonly #outputKept: (child: ChildState) => Promise<void>;
  readonly #log: Log;
  readonly #outcomes: OutcomeWriter;
  readonly #collecting = new Map<string, Promise<void>>();
  #closed = false;

  constructor(options: LifecycleOptions) {
    this.#store = options.store;
    this.#output = options.output;
    this.#sessionsDirectory = options.sessionsDirectory;
    this.#outputKept = options.outputKept ?? (() => Promise.resolve());
    this.#log = options.log;
    this.#outcomes = new OutcomeWriter(options.store, options.log);
    this.discards = new Discards({ ...options, ended: (sessionId) => this.#output.finish(sessionId) });
  }

  connected(link: KeeperLink): void {
    this.#reconcile(
      sessionsOfKeeper(this.#store.sql, link.id),
      { kind: 'answered', children: link.children },
      link,
    );
    // Output of launches that were given up is read too: a program that is not read may never end.
    for (const child of link.children.values()) this.#followOutput(link, child);
    this.discards.connected(link, (sessionId) => this.spawning.has(sessionId));
  }

  changed(link: KeeperLink, child: ChildState): void {
    if (this.spawning.has(child.sessionId)) return;
    const row = findSession(this.#store.sql, child.sessionId);
    if (row !== null) this.#reconcile([row], { kind: 'answered', children: one(child) }, link);
  }

  output(link: KeeperLink, sessionId: string, stream: PipeStream, offset: number, bytes: Uint8Array): void {
    this.#output.receive(link, sessionId, stream, offset, bytes);
  }

  dead(link: KeeperLink): void {
    this.#afterDeath(sessionsOfKeeper(this.#store.sql, link.id), link.children);
    void this.discards.lostKeeper(link.id);
  }

  /** At start, after all keepers were dialled: sessions whose keeper left no trace. */
  loseOrphans(keeperIds: ReadonlySet<string>): void {
    this.#afterDeath(liveSessionsOfOtherKeepers(this.#store.sql, keeperIds), new Map());
    void this.discards.lostAllBut(keeperIds);
  }

  /** Stores a fact about a session: at once, or as soon as the disk takes it. */
  write(change: (transaction: Transaction) => void): void {
    this.#outcomes.write(change);
  }

  /** What the program of a session expects to find when it starts. */
  prepare(sessionId: string, { reports }: { readonly reports: boolean }): void {
    if (!reports) return;
    try {
      makeReportsDirectory(this.#sessionsDirectory, sessionId);
    } catch (error) {
      this.#log.warn({ sessionId, err: error }, 'the hooks of a session will report nothing');
    }
  }

  /** The spawn's answer has come. */
  started(link: KeeperLink, child: ChildState): void {
    this.changed(link, child);
    this.#followOutput(link, child);
  }

  /** The keeper refused to spawn. */
  refused(sessionId: string): void {
    this.#end(sessionId, { status: 'failed', end_reason: 'spawn-failed' });
  }

  /** Waits a while for the start or the end of a session to be stored, when either is under way. */
  async settle(sessionId: string): Promise<void> {
    const work = this.spawning.get(sessionId) ?? this.#collecting.get(sessionId);
    if (work !== undefined) await Promise.race([work, delay(SETTLE_MS, undefined, { ref: false })]);
  }

  close(): void {
    this.#closed = true;
    this.discards.close();
    this.#outcomes.close();
  }

  #reconcile(rows: readonly SessionRow[], evidence: KeeperEvidence, link: KeeperLink | null): void {
    const actions = planReconcile({
      rows,
      evidence,
      // Neither those that are being asked for nor those that were given up are judged here.
      spawning: new Set([...this.spawning.keys(), ...this.discards.ids]),
      removed: removedSessions(this.#store),
    });
    for (const action of actions) this.#apply(action, link);
  }

  #apply(action: ReconcileAction, link: KeeperLink | null): void {
    switch (action.kind) {
      case 'confirm':
        this.#confirm(action.sessionId, action.child);
        return;
      case 'collect':
        if (link !== null) this.#collect(link, action.sessionId);
        return;
      case 'record-exit':
        this.#end(action.sessionId, exitChange(action.child));
        return;
      case 'never-started':
        this.#end(action.sessionId, { status: 'failed', end_reason: 'never-started' });
        return;
      case 'lose':
        this.#log.warn({ sessionId: action.sessionId }, 'a session is lost with its keeper');
        this.#end(action.sessionId, { status: 'lost', end_reason: 'keeper-died' });
        return;
      case 'release':
        if (link !== null) this.#release(link, action.sessionId);
        return;
      case 'adopt':
        if (link !== null) this.#adopt(link, action.child);
        return;
    }
  }

  #confirm(sessionId: string, child: ChildState): void {
    const isTold = (row: SessionRow) =>
      (row.status === 'running' || row.status === 'stopping') && row.pid === child.pid;
    const known = findSession(this.#store.sql, sessionId);
    if (known === null || isTold(known)) return;
    this.#log.info(
      { sessionId, name: known.name, provider: known.provider, childPid: child.pid },
      'session runs',
    );
    this.#outcomes.write((transaction) => {
      const row = findSession(transaction.sql, sessionId);
      if (row === null || row.status === 'exited' || isTold(row)) return;
      const change: SessionChange = {
        status: 'running',
        pid: child.pid,
        process_start: child.processStart,
        ended_at: null,
        end_reason: null,
      };
      changeSession(transaction, row, change);
    });
  }

  #end(sessionId: string, change: SessionChange): void {
    this.#outcomes.write((transaction) => {
      const row = findSession(transaction.sql, sessionId);
      if (row === null || row.status === 'exited') return;
      if (!isLive(row) && change.status !== 'exited') return;
      const reason = change.end_reason ?? (row.stop_requested === 1 ? 'stopped' : null);
      changeSession(transaction, row, { ended_at: Date.now(), ...change, end_reason: reason });
    });
    this.#output.finish(sessionId);
  }

  /** Once at a time for each session; the next reconnect begins anew what a lost keeper interrupted. */
  #collect(link: KeeperLink, sessionId: string): void {
    if (this.#collecting.has(sessionId)) return;
    const work = this.#collectUntilStored(link, sessionId).finally(() => this.#collecting.delete(sessionId));
    this.#collecting.set(sessionId, work);
  }

  async #collectUntilStored(link: KeeperLink, sessionId: string): Promise<void> {
    let pause = COLLECT_RETRY_MS_FIRST;
    while (link.isConnected && !this.#closed) {
      try {
        await this.#collectOnce(link, sessionId);
        return;
      } catch (error) {
        this.#log.warn({ sessionId, err: error }, 'the end of a session cannot be stored; trying again');
      }
      await delay(pause, undefined, { ref: false });
      pause = Math.min(pause * 2, COLLECT_RETRY_MS_MAX);
    }
  }

  async #collectOnce(link: KeeperLink, sessionId: string): Promise<void> {
    const child = link.children.get(sessionId);
    if (child === undefined || child.exit === null) return;
    if (child.transport === 'pty') await this.#keepScreen(link, sessionId);
    else {
      await this.#output.drain(link, child);
      await this.#outputKept(child);
    }
    if (this.#closed) return;
    this.#store.transact((transaction) => {
      const row = findSession(transaction.sql, sessionId);
      if (row === null || row.status === 'exited') return;
      const reason = row.stop_requested === 1 ? 'stopped' : null;
      changeSession(transaction, row, { ...exitChange(child), end_reason: reason });
    });
    this.#log.info({ sessionId, exit: child.exit }, 'session ended');
    this.#output.finish(sessionId);
    await link.release(sessionId);
  }

  async #keepScreen(link: KeeperLink, sessionId: string): Promise<void> {
    let screen;
    try {
      screen = await link.call('readScreen', { sessionId, scrollback: FINAL_SCROLLBACK_LINES });
    } catch (error) {
      // A keeper out of reach may still have it; one that refuses never will.
      if (error instanceof FailureError && error.failure.code !== 'keeper-unavailable') {
        this.#log.warn({ sessionId, err: error }, 'the last screen of a session cannot be read');
        return;
      }
      throw error;
    }
    await writeFinalScreen(join(this.#sessionsDirectory, sessionId), screen);
  }

  #release(link: KeeperLink, sessionId: string): void {
    link.release(sessionId).catch((error: unknown) => {
      this.#log.debug({ sessionId, err: error }, 'a child could not be released yet');
    });
  }

  /** Without a row, from the note that the keeper kept. */
  #adopt(link: KeeperLink, child: ChildState): void {
    const note = decodeNote(child.note);
    const id = SessionId.safeParse(child.sessionId);
    if (note === null || !id.success) {
      this.#log.error({ sessionId: child.sessionId }, 'a child is unknown here and its note cannot be read');
      return;
    }
    this.#outcomes.write((transaction) => {
      if (findSession(transaction.sql, id.data) !== null) return;
      const { workspaceRoot: root } = note;
      const gitRoot = existsSync(join(root, '.git')) ? root : null;
      const workspace = workspaceAround(transaction, { directory: root, gitRoot }, true);
      const isTaken = (name: string) => isNameLive(transaction.sql, name);
      const name = isTaken(note.name) ? makeSessionName(note.name, isTaken) : note.name;
      const bare = newSessionRow({
        ...note,
        recordId: null,
        id: id.data,
        name,
        transport: child.transport,
        workspaceId: workspace.id,
        keeperId: KeeperId.parse(link.id),
        size: child.size,
        process: { pid: child.pid, start: child.processStart },
      });
      insertSession(transaction, { ...bare, record_id: restoreRecord(transaction, note, bare) });
    });
    this.#log.warn({ sessionId: child.sessionId }, 'a session that the database did not know was adopted');
    if (child.exit !== null) this.#collect(link, child.sessionId);
  }

  #followOutput(link: KeeperLink, child: ChildState): void {
    if (child.transport !== 'pipe') return;
    this.#output.follow(link, child.sessionId).catch((error: unknown) => {
      this.#log.debug({ sessionId: child.sessionId, err: error }, 'output cannot be followed now');
    });
  }

  #afterDeath(rows: readonly SessionRow[], lastKnown: ReadonlyMap<string, ChildState>): void {
    this.#reconcile(rows, { kind: 'dead', lastKnown }, null);
    void this.#endLeftovers(rows.filter(isLive));
  }

  async #endLeftovers(rows: readonly SessionRow[]): Promise<void> {
    for (const row of rows) {
      try {
        const outcome = await endLeftovers(row, LEFTOVER_GRACE_MS);
        if (outcome !== null && outcome.ended > 0) {
          this.#log.info({ sessionId: row.id, ended: outcome.ended }, 'ended what a dead keeper left behind');
        }
      } catch (error) {
        this.#log.error({ sessionId: row.id, err: error }, 'leftovers of a session could not be ended');
      }
    }
  }
}

function exitChange(child: ChildState): SessionChange {
  if (child.exit === null) throw new Error('the child has not ended');
  return {
    status: 'exited',
    pid: child.pid,
    process_start: child.processStart,
    columns: child.size?.columns ?? null,
    rows: child.size?.rows ?? null,
    title: child.title,
    ended_at: child.exit.endedAt,
    exit_code: child.exit.exitCode,
    exit_signal: child.exit.exitSignal,
  };
}

function one(child: ChildState): ReadonlyMap<string, ChildState> {
  return new Map([[child.sessionId, child]]);
}

// All keepers of this node. Those of this build take new sessions; others serve what they have and, once empty, are let go so
// that they end by themselves.
import { FailureError, KeeperId, type KeeperView } from '@roost/protocol';
import { startKeeper } from '@roost/keeper/client';
import type { ChildState } from '@roost/keeper/wire';
import type { Log } from '@roost/storage';
import { randomHexId } from '../node-identity.ts';
import { KeeperFiles } from './keeper-files.ts';
import { KeeperLink, type KeeperEvents } from './keeper-link.ts';
import { placeSession, surplusKeepers } from './placement.ts';

/** Milliseconds that a status of the node waits for one keeper. */
const STATUS_MS = 500;
/** Milliseconds between looks for keepers that are not needed any more. */
const SURPLUS_LOOK_MS = 15_000;

/** Keepers that one placement starts at most: one that is lost at once would be followed by another without end. */
const STARTS_PER_PLACEMENT_MAX = 3;

export interface KeeperPoolOptions {
  readonly directory: string;
  /** The bundled keeper. */
  readonly script: string;
  readonly version: string;
  /** Keepers of this build at most: more would share cores. */
  readonly keepersMax: number;
  readonly log: Log;
  readonly events: KeeperEvents;
}

export class KeeperPool {
  readonly #options: KeeperPoolOptions;
  readonly #files: KeeperFiles;
  readonly #links = new Map<string, KeeperLink>();
  /** When a keeper was first seen without a session. */
  readonly #idleSince = new WeakMap<KeeperLink, number>();
  readonly #surplusTimer: NodeJS.Timeout;
  #starting: Promise<void> | null = null;
  /** Aborted when the pool is closed. */
  readonly #closing = new AbortController();

  constructor(options: KeeperPoolOptions) {
    this.#options = options;
    this.#files = new KeeperFiles(options.directory);
    this.#surplusTimer = setInterval(() => this.#letSurplusGo(), SURPLUS_LOOK_MS);
    this.#surplusTimer.unref();
  }

  /** Dials every keeper that left a trace, all at once; returns when each has answered, died, or been slow. */
  async adopt(): Promise<void> {
    await Promise.all(
      this.#files.found().map(async (id) => {
        const link = this.#makeLink(id);
        this.#links.set(id, link);
        await link.dial();
      }),
    );
  }

  get(id: string | null): KeeperLink | null {
    return id === null ? null : (this.#links.get(id) ?? null);
  }

  get ids(): ReadonlySet<string> {
    return new Set(this.#links.keys());
  }

  /** What is known of a child, whether its keeper is connected or not. */
  child(keeperId: string | null, sessionId: string): ChildState | null {
    return this.get(keeperId)?.children.get(sessionId) ?? null;
  }

  /** Starts the first keeper ahead of the first session. */
  prewarm(): void {
    if (this.#serving().length === 0) this.#startInBackground();
  }

  /** A keeper for one session, with a place reserved: `reserved` is to be lowered by the caller, whatever comes. */
  async place(): Promise<KeeperLink> {
    for (let startsLeft = STARTS_PER_PLACEMENT_MAX; ;) {
      const serving = this.#serving();
      const { keeperId, startAnother } = placeSession(
        serving.map((link) => ({ id: link.id, sessions: link.load })),
        this.#options.keepersMax,
      );
      const link = this.get(keeperId);
      if (startAnother === 'now' && startsLeft > 0) {
        startsLeft -= 1;
        try {
          await this.#start();
        } catch (error) {
          if (link === null || this.#isClosed()) throw error;
          this.#options.log.error({ err: error }, 'another keeper could not be started');
          startsLeft = 0;
        }
        continue;
      }
      if (link === null) throw new FailureError('keeper-unavailable');
      if (startAnother === 'ahead') this.#startInBackground();
      link.reserved += 1;
      return link;
    }
  }

  /** An empty keeper of another build is let go. */
  #retireIfDrained(link: KeeperLink): void {
    if (this.#isServing(link) || !link.isIdle) return;
    this.#letGo(link);
  }

  /** Without child and connection it ends by itself. */
  #letGo(link: KeeperLink): void {
    this.#options.log.info({ keeperId: link.id }, 'an empty keeper is let go');
    link.close();
    this.#links.delete(link.id);
  }

  #letSurplusGo(): void {
    const now = performance.now();
    const loads = this.#serving().map((link) => {
      const sessions = Math.max(link.load, link.children.size);
      const idleSince = sessions > 0 ? now : (this.#idleSince.get(link) ?? now);
      this.#idleSince.set(link, idleSince);
      return { id: link.id, sessions, idleMs: now - idleSince };
    });
    for (const id of surplusKeepers(loads)) {
      const link = this.get(id);
      if (link !== null) this.#letGo(link);
    }
  }

  async views(): Promise<KeeperView[]> {
    return Promise.all(
      [...this.#links.values()].map(async (link): Promise<KeeperView> => {
        const status = await link.call('status', {}, STATUS_MS).catch(() => null);
        return {
          id: link.id,
          pid: link.pid ?? 0,
          version: link.version ?? 'unknown',
          sessions: link.load,
          state: this.#isServing(link) ? 'serving' : 'draining',
          residentBytes: status?.residentBytes ?? 0,
        };
      }),
    );
  }

  /** Lets go of all keepers; they go on. One that is still starting is ended, so that none is left that nobody knows. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#surplusTimer);
    for (const link of this.#links.values()) link.close();
    await this.#starting?.catch(() => undefined);
  }

  #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  #serving(): KeeperLink[] {
    return [...this.#links.values()].filter((link) => link.isConnected && this.#isServing(link));
  }

  #isServing(link: KeeperLink): boolean {
    return link.version === this.#options.version;
  }

  #startInBackground(): void {
    this.#start().catch((error: unknown) => {
      if (this.#isClosed()) return;
      this.#options.log.error({ err: error }, 'a keeper could not be started');
    });
  }

  /** One start at a time; everybody who needs one waits for the same. */
  #start(): Promise<void> {
    this.#starting ??= this.#startOne().finally(() => {
      this.#starting = null;
    });
    return this.#starting;
  }

  async #startOne(): Promise<void> {
    if (this.#isClosed()) throw new FailureError('shutting-down');
    const { script, version } = this.#options;
    const id = KeeperId.parse(randomHexId());
    const link = this.#makeLink(id);
    try {
      const socketPath = this.#files.socket(id);
      const connection = await startKeeper({
        script,
        socketPath,
        keeperId: id,
        version,
        logFile: this.#files.log(id),
        signal: this.#closing.signal,
      }).catch((error: unknown) => {
        this.#files.remove(id);
        throw error;
      });
      this.#links.set(id, link);
      // Nobody would close it any more.
      if (this.#isClosed()) link.close();
      await link.use(connection);
    } catch (cause) {
      this.#links.delete(id);
      link.close();
      if (this.#isClosed()) throw new FailureError('shutting-down', undefined, { cause });
      throw new FailureError('keeper-unavailable', { keeperId: id }, { cause });
    }
  }

  #makeLink(id: KeeperId): KeeperLink {
    const { events, log } = this.#options;
    return new KeeperLink(id, {
      files: this.#files,
      log,
      events: {
        connected: (link) => {
          events.connected(link);
          this.#retireIfDrained(link);
        },
        changed: (link, state) => events.changed(link, state),
        output: (...output) => events.output(...output),
        idle: (link) => this.#retireIfDrained(link),
        dead: (link) => {
          this.#links.delete(link.id);
          events.dead(link);
        },
      },
    });
  }
}

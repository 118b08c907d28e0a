// For tests only: what a node needs to launch by spec, around a real database and real keepers, without connections. It can be
// closed in the middle of everything, as a crash would, and opened again.
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import {
  CAPABILITIES,
  ConnectionId,
  Projection,
  RESUME_TIMEOUT_MS,
  type WorkspaceId,
  type Capability,
  type IdempotencyKey,
  type Result,
  type SpawnReceipt,
  SpawnRequest,
  SpawnSpec,
  type Session,
} from '@roost/protocol';
import { findProvider } from '@roost/providers';
import type { Caller } from '../control/handlers.ts';
import { KeeperPool } from '../keepers/keeper-pool.ts';
import { beginIncarnation, type NodeIdentity } from '../node-identity.ts';
import { bundledKeeper, type TestHome } from '../node-for-test.ts';
import type { ProviderSource } from '../providers/providers.ts';
import type { RecordRow } from '../records/record-table.ts';
import { resumeRecord } from '../records/resume.ts';
import { SessionLifecycle } from '../sessions/lifecycle.ts';
import type { LaunchSource } from '../sessions/launch.ts';
import { PipeOutput } from '../sessions/pipe-output.ts';
import { Removals } from '../sessions/removals.ts';
import { spawnSession } from '../sessions/spawn.ts';
import { openDatabase } from '../store/open-database.ts';
import { Store } from '../store/store.ts';
import { GitWorktrees } from '../worktrees/git-worktrees.ts';
import { NO_CLAIMS, ServiceModes } from '../worktrees/service-mode.ts';
import { Reservations } from '../worktrees/reservations.ts';
import { workspaceAround } from '../workspaces/workspaces.ts';
import { SpawnLedger } from './ledger.ts';
import { spawnOperations } from './operations.ts';
import { SpawnProfiles } from './profiles.ts';
import type { StartScene } from './start-session.ts';

/** Whatever stands in for a program, it is taken for one of a known version. */
export const AS_KNOWN: ProviderSource = {
  find: findProvider,
  isKnownVersion: () => true,
  settle: () => Promise.resolve(),
};

const EVERY_CAPABILITY = Object.keys(CAPABILITIES) as Capability[];

export interface BenchOptions {
  /** Milliseconds since the epoch, for the ledger. */
  readonly now?: () => number;
}

export class LaunchBench {
  readonly home: TestHome;
  readonly store: Store;
  readonly identity: NodeIdentity;
  readonly keepers: KeeperPool;
  readonly ledger: SpawnLedger;
  readonly profiles: SpawnProfiles;
  readonly removals: Removals;
  readonly workspaceId: WorkspaceId;
  readonly #scene: StartScene & { readonly source: LaunchSource };
  readonly #operations: ReturnType<typeof spawnOperations>;
  readonly #close: () => void;

  private constructor(home: TestHome, opened: Opened, options: BenchOptions) {
    const { store, keepers, lifecycle, removals, output } = opened;
    this.home = home;
    this.store = store;
    this.identity = opened.identity;
    this.keepers = keepers;
    this.removals = removals;
    const log = pino({ enabled: false });
    const removed = () => void removals.clean();
    this.profiles = new SpawnProfiles({ directory: profilesOf(home), store, log });
    this.ledger = new SpawnLedger({ store, keepers, lifecycle, removed, log, ...options });
    this.#scene = {
      store,
      keepers,
      lifecycle,
      reservations: new Reservations(),
      removed,
      source: { environment: environmentOf(home), home: home.path, providers: AS_KNOWN },
    };
    this.#operations = spawnOperations({
      ...this.#scene,
      ledger: this.ledger,
      profiles: this.profiles,
      identity: this.identity,
      selection: {
        store,
        worktrees: new GitWorktrees({ environment: environmentOf(home) }),
        modes: new ServiceModes({}, NO_CLAIMS),
        claims: NO_CLAIMS,
      },
    });
    this.workspaceId = store.transact(
      (transaction) => workspaceAround(transaction, { directory: workOf(home), gitRoot: null }).id,
    );
    this.#close = () => {
      this.ledger.close();
      this.profiles.close();
      lifecycle.close();
      output.close();
      void keepers.close();
      store.close();
    };
  }

  static async open(home: TestHome, options: BenchOptions = {}): Promise<LaunchBench> {
    for (const directory of [workOf(home), join(home.path, 'keepers'), join(home.path, 'sessions')]) {
      mkdirSync(directory, { recursive: true });
    }
    const log = pino({ enabled: false });
    const store = new Store(openDatabase(join(home.path, 'node.db')));
    const identity = beginIncarnation(store, '0.0.0-test');
    const sessionsDirectory = join(home.path, 'sessions');
    const output = new PipeOutput(sessionsDirectory, log);
    const lifecycle = new SessionLifecycle({ store, output, sessionsDirectory, log });
    const keepers = new KeeperPool({
      directory: join(home.path, 'keepers'),
      script: bundledKeeper,
      version: '0.0.0-test',
      keepersMax: 1,
      log,
      events: lifecycle,
    });
    await keepers.adopt();
    lifecycle.loseOrphans(keepers.ids);
    const removals = new Removals({ store, keepers, sessionsDirectory, log });
    return new LaunchBench(home, { store, identity, keepers, lifecycle, removals, output }, options);
  }

  /** As a crash: nobody is waited for. */
  crash(): void {
    this.#close();
  }

  spec(more: Record<string, unknown> = {}): SpawnSpec {
    this.profiles.refresh();
    return SpawnSpec.parse({
      target: { nodeId: this.identity.nodeId, workspaceId: this.workspaceId },
      profileId: 'plain',
      expectedRevision: this.profiles.profiles.get('plain')?.revision ?? 'none',
      deadlineMs: 20_000,
      idempotencyKey: 'key',
      ...more,
    });
  }

  async submit(
    spec: SpawnSpec,
    who: { client?: string; capabilities?: Capability[] } = {},
  ): Promise<SpawnReceipt> {
    return this.#operations['spawn.submit'](spec, callerOf(who));
  }

  async result(key: IdempotencyKey): Promise<Result<'spawn.result'>> {
    return this.#operations['spawn.result']({ idempotencyKey: key }, callerOf({}));
  }

  spawn(request: Record<string, unknown>): Promise<Session> {
    return spawnSession(
      { ...this.#scene, caller: callerOf({}) },
      SpawnRequest.parse({ directory: workOf(this.home), ...request }),
    );
  }

  resume(record: RecordRow, timeoutMs = RESUME_TIMEOUT_MS): Promise<{ session: Session }> {
    const size = { columns: 80, rows: 24 };
    return resumeRecord({ ...this.#scene, timeoutMs }, { record, size, prompt: null });
  }

  /** How many of everything that a launch stores. */
  counts(): { sessions: number; records: number; launches: number } {
    const count = (table: string) => this.store.sql.all(`SELECT 1 FROM ${table}`).length;
    return { sessions: count('sessions'), records: count('records'), launches: count('spawn_ledger') };
  }

  /** Launches that were given up and may still run. */
  get discarded(): number {
    return this.store.sql.all('SELECT 1 FROM removals WHERE discard = 1').length;
  }
}

interface Opened {
  readonly store: Store;
  readonly identity: NodeIdentity;
  readonly keepers: KeeperPool;
  readonly lifecycle: SessionLifecycle;
  readonly removals: Removals;
  readonly output: PipeOutput;
}

function callerOf({
  client = 'test',
  capabilities = EVERY_CAPABILITY,
}: {
  client?: string;
  capabilities?: Capability[];
}): Caller {
  return {
    connectionId: ConnectionId.parse(1),
    role: 'operator',
    clientName: client,
    projection: new Projection(capabilities),
    terminals: { open: () => Promise.reject(new Error('no terminals here')), close: () => undefined },
    lanes: {
      followEvents: () => undefined,
      resyncEvents: () => undefined,
      watchScreens: () => undefined,
      followOutput: () => undefined,
    },
    signal: new AbortController().signal,
  };
}

export function writeProfile(home: TestHome, id: string, profile: object): void {
  mkdirSync(profilesOf(home), { recursive: true });
  writeFileSync(join(profilesOf(home), `${id}.json`), JSON.stringify(profile));
}

/** A program of that name where children of this home look first. */
export function writeProgram(home: TestHome, name: string, script: string): void {
  const directory = join(home.path, 'bin');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, name), script);
  chmodSync(join(directory, name), 0o755);
}

/** Session ids of all processes that run in sessions of this home. */
export function runningSessions(home: TestHome): string[] {
  const found = new Set<string>();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    let variables: string[];
    try {
      if (readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')) continue;
      variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    } catch {
      continue;
    }
    const marker = variables.find((one) => one.startsWith('ROOST_SESSION_ID='));
    if (marker !== undefined && variables.includes(`ROOST_HOME=${home.path}`)) {
      found.add(marker.slice('ROOST_SESSION_ID='.length));
    }
  }
  return [...found].sort();
}

export function workOf(home: TestHome): string {
  return join(home.path, 'work');
}

function profilesOf(home: TestHome): string {
  return join(home.path, 'profiles', 'spawn');
}

function environmentOf(home: TestHome): NodeJS.ProcessEnv {
  return { PATH: `${join(home.path, 'bin')}:/usr/bin:/bin`, HOME: home.path, SHELL: '/bin/sh' };
}

// Puts the node together and takes it apart. Start: home, lock, log, database, keepers, reconciliation, then the socket; whatever
// fails gives back what was taken before. Stop: no new work, what runs may finish, keepers and their sessions go on.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { availableParallelism, homedir } from 'node:os';
import { childEnvironment, PROVIDERS } from '@roost/providers';
import { AttentionCommand } from './activity/attention-command.ts';
import { Activities } from './activity/activity.ts';
import { Admission } from './control/admission.ts';
import { Conversations } from './conversations/conversations.ts';
import { conversationOperations } from './conversations/operations.ts';
import { ControllerLease } from './control/controller-lease.ts';
import { controllerOperations } from './control/controller-operations.ts';
import type { Handlers } from './control/handlers.ts';
import { Slots, WORKSPACE_SLOTS } from './control/slots.ts';
import { ConnectionServer } from './connection/server.ts';
import { NO_FAULTS, type FaultHook } from './fault-points.ts';
import { Journal } from './events/journal.ts';
import { KeyedLocks } from './control/keyed-locks.ts';
import { eventOperations } from './events/operations.ts';
import { fileOperations } from './files/files.ts';
import { gitOperations } from './git/operations.ts';
import { Hubs, hubOperations } from './hubs/hubs.ts';
import { HistoryCatalog } from './history/catalog.ts';
import { historyOperations } from './history/operations.ts';
import { readConfig } from './home/config.ts';
import { prepareHome } from './home/home.ts';
import { acquireHomeLock } from './home/lock.ts';
import { nodeToken } from './home/token.ts';
import { writeHookFiles } from './reports/hook-files.ts';
import { Reports } from './reports/reports.ts';
import { takeToldIdentity } from './records/told-identity.ts';
import { FirstPrompts } from './prompts/first-prompts.ts';
import { Prompts } from './prompts/prompts.ts';
import type { KeeperEvents } from './keepers/keeper-link.ts';
import { KeeperPool } from './keepers/keeper-pool.ts';
import { ManagedWorktrees } from './managed-worktrees/managed-worktrees.ts';
import { managedClaims } from './managed-worktrees/reservations.ts';
import { managedWorktreeOperations } from './managed-worktrees/operations.ts';
import { WorktreeProfiles } from './managed-worktrees/worktree-profiles.ts';
import { openLog, type Log } from '@roost/storage';
import { beginIncarnation, endIncarnation, type NodeIdentity } from './node-identity.ts';
import { nodeOperations } from './node-operations.ts';
import { laneOperations } from './screens/operations.ts';
import { Screens } from './screens/screens.ts';
import { SessionLifecycle } from './sessions/lifecycle.ts';
import { OutcomeWriter } from './store/outcome-writer.ts';
import { PipeOutput } from './sessions/pipe-output.ts';
import { Removals } from './sessions/removals.ts';
import { sessionOperations } from './sessions/sessions.ts';
import { terminalOperations } from './sessions/terminals.ts';
import { providerOperations } from './providers/operations.ts';
import { Providers } from './providers/providers.ts';
import { snapshotOperations } from './snapshot/snapshot.ts';
import { SpawnLedger } from './spawn/ledger.ts';
import { spawnOperations } from './spawn/operations.ts';
import { SpawnProfiles } from './spawn/profiles.ts';
import { recordOperations } from './records/operations.ts';
import { reconcileRecords } from './records/reconcile-records.ts';
import { RecordRetention } from './records/retention.ts';
import { openDatabase } from './store/open-database.ts';
import { Store } from './store/store.ts';
import { browseOperations } from './workspaces/browse-operations.ts';
import { gitQuestions, lookAtGit } from './workspaces/git-questions.ts';
import { inspectionOperations } from './workspaces/inspect.ts';
import { OutsideChanges } from './workspaces/outside-changes.ts';
import { workspaceOperations } from './workspaces/workspaces.ts';
import { GitCalls } from './git/git-calls.ts';
import { GitWorktrees } from './worktrees/git-worktrees.ts';
import { worktreeOperations } from './worktrees/operations.ts';
import { Reservations } from './worktrees/reservations.ts';
import { ServiceModes } from './worktrees/service-mode.ts';
import { Settling } from './worktrees/settling.ts';

export interface DaemonOptions {
  readonly home: string;
  readonly version: string;
  /** Path of the bundled keeper. */
  readonly keeperScript: string;
  /** The environment of which children get a selection. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly logLevel?: string | undefined;
  /** Holds every answer against its schema: for tests. */
  readonly checkResults?: boolean;
  /** Moments at which a test lets the node end. */
  readonly faults?: FaultHook;
  /** Keepers at most; one per core unless told otherwise. */
  readonly keepersMax?: number;
}

export interface Daemon {
  readonly socket: string;
  readonly identity: NodeIdentity;
  readonly log: Log;
  /** Stops serving; sessions go on. Idempotent. */
  stop(): Promise<void>;
  /** Resolves when the node has stopped, for whatever reason it was asked to. */
  readonly stopped: Promise<void>;
}

/** Milliseconds of a stop: for requests under way, then for clients to say good-bye. Together below two seconds. */
const FINISH_MS = 1_000;
const GOOD_BYE_MS = 300;
const PRUNE_INTERVAL_MS = 60_000;

/** @throws FailureError: home-unusable, home-path-too-long, node-already-running, database-*, storage-*. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const undo: Undo[] = [];
  try {
    return await start(options, undo);
  } catch (error) {
    for (const step of undo.reverse()) await step();
    throw error;
  }
}

/** Gives back what one step of the start took. */
type Undo = () => void | Promise<void>;

async function start(options: DaemonOptions, undo: Undo[]): Promise<Daemon> {
  const { version } = options;
  const paths = prepareHome(options.home);
  const lock = acquireHomeLock(paths.lock);
  undo.push(() => lock.release());
  const log = openLog(paths.log, options.logLevel);
  const config = readConfig(paths.config);
  const token = nodeToken(paths.token);
  const store = new Store(openDatabase(paths.database));
  undo.push(() => store.close());
  const identity = beginIncarnation(store, version);
  log.info({ version, nodeId: identity.nodeId, incarnation: identity.incarnation }, 'node starts');

  const journal = new Journal(store);
  const output = new PipeOutput(paths.sessions, log);
  const lifecycle: SessionLifecycle = new SessionLifecycle({
    store,
    output,
    sessionsDirectory: paths.sessions,
    outputKept: (child) => conversations.ended(child),
    log,
  });
  // Screens are asked for once the rows agree with the keeper.
  const heard: KeeperEvents = {
    connected: (link) => {
      lifecycle.connected(link);
      screens.connected(link);
      activities.connected(link);
      firstPrompts.connected(link);
      conversations.connected(link);
    },
    changed: (link, child) => {
      lifecycle.changed(link, child);
      screens.changed(child);
    },
    output: (...told) => lifecycle.output(...told),
    dead: (link) => lifecycle.dead(link),
  };
  const keepers = new KeeperPool({
    directory: paths.keepers,
    script: options.keeperScript,
    version: keeperVersion(version, options.keeperScript),
    keepersMax: options.keepersMax ?? availableParallelism(),
    log,
    events: heard,
  });
  const providers = new Providers({ environment: options.environment, directory: paths.providers, log });
  undo.push(() => providers.close());
  const screens = new Screens({ store, keepers, log });
  const activities: Activities = new Activities({ store, keepers, lifecycle, log });
  const conversations = new Conversations({
    store,
    keepers,
    output,
    sessionsDirectory: paths.sessions,
    activities,
    log,
  });
  const prompts = new Prompts({ store, providers, log });
  const faults = options.faults ?? NO_FAULTS;
  const firstPrompts: FirstPrompts = new FirstPrompts({ store, keepers, prompts, faults, log });
  writeHookFiles(paths.hooks);
  const reports = new Reports({
    store,
    sessionsDirectory: paths.sessions,
    heard: (sessionId, event) => {
      // What it began with counts before that it works.
      prompts.heard(sessionId, event);
      activities.heard(sessionId, 'hooks', event);
      if (event.kind === 'identity') takeToldIdentity({ store, log }, sessionId, event.providerSessionId);
    },
    log,
  });
  const removals = new Removals({ store, keepers, sessionsDirectory: paths.sessions, log });
  undo.push(async () => {
    screens.close();
    reports.close();
    conversations.close();
    firstPrompts.close();
    prompts.close();
    activities.close();
    lifecycle.close();
    output.close();
    await keepers.close();
  });
  await keepers.adopt();
  lifecycle.loseOrphans(keepers.ids);
  conversations.settleEnded();
  reconcileRecords(store, log);
  reports.begin();

  const { command } = config.attention;
  if (command !== null) {
    const { environment } = options;
    const attention = new AttentionCommand({ store, command, home: paths.home, environment, log });
    undo.push(() => attention.close());
  }

  const outcomes = new OutcomeWriter(store, log);
  undo.push(() => outcomes.close());
  const lease = new ControllerLease({
    monotonicNow: () => performance.now(),
    // Never before the end of the lease that was.
    publishHolder: (change) => outcomes.transactAfter(({ append }) => append(change)),
    publishEnd: (change) => outcomes.write(({ append }) => append(change)),
    schedule: (milliseconds, callback) => {
      const timer = setTimeout(callback, milliseconds).unref();
      return () => clearTimeout(timer);
    },
  });

  const removed = () => void removals.clean();
  const profiles = new SpawnProfiles({ directory: paths.spawnProfiles, store, log });
  undo.push(() => profiles.close());
  const worktreeProfiles = new WorktreeProfiles({ directory: paths.worktreeProfiles, store, log });
  undo.push(() => worktreeProfiles.close());
  const retention = new RecordRetention({ store, policy: config.records, log, onRemoved: removed });
  const ledger = new SpawnLedger({ store, keepers, lifecycle, removed, log });
  undo.push(() => ledger.close());
  const source = { environment: options.environment, home: paths.home, providers };
  const slots = new Slots(WORKSPACE_SLOTS);
  const catalog = new HistoryCatalog({
    home: options.environment.HOME ?? homedir(),
    providers: PROVIDERS,
    environmentOf: ({ inheritEnvironment: inherit, scrubEnvironment: scrub }) =>
      childEnvironment({ parent: options.environment, inherit, scrub, set: {} }),
    monotonicNow: () => performance.now(),
  });
  const outside = new OutsideChanges({ store, journal, look: (root) => lookAtGit(source, root), log });
  undo.push(() => outside.close());

  const requestStop = () => void setImmediate(() => void stop());
  const reservations = new Reservations();
  const worktrees = new GitWorktrees({ environment: options.environment });
  const repositories = new KeyedLocks();
  const claims = managedClaims(store, worktreeProfiles);
  const modes = new ServiceModes(config.worktrees, claims);
  const settling = new Settling({ store, worktrees, reservations, repositories, faults, log });
  void settling.begin();
  undo.push(() => settling.close());
  const scene = {
    reservations,
    store,
    keepers,
    lifecycle,
    output,
    removals,
    journal,
    identity,
    version,
    paths,
  };
  const managed = new ManagedWorktrees(
    {
      store,
      log,
      profiles: worktreeProfiles,
      worktrees,
      git: new GitCalls({ environment: options.environment }),
      source: { environment: options.environment },
      home: paths.home,
      ports: config.worktreePorts,
      modes,
      removals,
      locks: new KeyedLocks(),
      repositories,
      reached: faults,
    },
    { ...scene, profiles, source, removed },
  );
  undo.push(() => managed.close());
  const hubs: Hubs = new Hubs({
    directory: paths.hubs,
    nodeId: identity.nodeId,
    server: { serveCall: (call) => server.serveCall(call) },
    log,
  });
  const handlers: Handlers = {
    ...nodeOperations({ ...scene, server: () => server.counters, requestStop }),
    ...controllerOperations(lease),
    ...snapshotOperations({
      ...scene,
      lease,
      profiles,
      worktreeProfiles,
      providers,
    }),
    ...providerOperations(providers),
    ...worktreeOperations({
      store,
      worktrees,
      reservations,
      repositories,
      modes,
      claims,
      settling,
      faults,
      slots,
      log,
    }),
    ...workspaceOperations({ store, reservations, standalone: { git: source } }),
    ...inspectionOperations({
      store,
      slots,
      git: gitQuestions(source),
      log,
      limits: config.workspaces.inspection,
    }),
    ...browseOperations(slots),
    ...fileOperations({ store, slots, log }),
    ...sessionOperations({
      ...scene,
      sessionsDirectory: paths.sessions,
      source,
      activities,
      conversations,
      prompts,
    }),
    ...terminalOperations({ store, keepers, activities }),
    ...conversationOperations({ store, conversations }),
    ...recordOperations({ ...scene, source, removed }),
    ...historyOperations({ store, catalog, now: () => Date.now() }),
    ...spawnOperations({
      ...scene,
      ledger,
      profiles,
      source,
      removed,
      selection: { store, worktrees, modes, claims },
    }),
    ...gitOperations({ store, slots, source }),
    ...managedWorktreeOperations({
      ...scene,
      ledger,
      managed,
      worktreeProfiles,
      userHome: options.environment.HOME,
    }),
    ...laneOperations({ store, screens, output }),
    ...eventOperations(journal),
    ...hubOperations(hubs),
  };
  const admission = new Admission({ handlers, lease, log, checkResults: options.checkResults === true });
  const server = new ConnectionServer(
    { path: paths.socket, token, listen: config.listen, connectionsMax: config.connections.max },
    {
      admission,
      log,
      events: journal,
      node: { id: identity.nodeId, incarnation: identity.incarnation, version },
      controller: () => lease.state,
      released: (connectionId) => lease.release(connectionId, 'disconnected'),
    },
  );
  const endService = async () => {
    hubs.close();
    server.stopAccepting();
    await admission.stop(FINISH_MS);
    await server.closeAll(GOOD_BYE_MS);
  };
  // It may serve one of two places already.
  undo.push(endService);
  await server.start();
  managed.start();
  hubs.begin();
  log.info({ socket: paths.socket }, 'node serves');

  keepers.prewarm();
  void removals.clean();
  retention.start();
  const pruning = setInterval(() => prune(journal, log), PRUNE_INTERVAL_MS);
  pruning.unref();

  let stopping: Promise<void> | null = null;
  let tellStopped: () => void = () => undefined;
  const stopped = new Promise<void>((resolve) => {
    tellStopped = resolve;
  });
  const stop = (): Promise<void> => (stopping ??= stopNow().finally(tellStopped));

  async function stopNow(): Promise<void> {
    log.info('node stops');
    clearInterval(pruning);
    await endService();
    // First of those that tell others what came about.
    conversations.close();
    outside.close();
    await managed.close();
    screens.close();
    reports.close();
    firstPrompts.close();
    prompts.close();
    activities.close();
    lifecycle.close();
    outcomes.close();
    await retention.close();
    await settling.close();
    ledger.close();
    profiles.close();
    worktreeProfiles.close();
    providers.close();
    output.close();
    await keepers.close();
    try {
      endIncarnation(store, identity);
    } catch (error) {
      log.error({ err: error }, 'the stop could not be recorded');
    }
    store.close();
    lock.release();
    log.info('node stopped');
  }

  return { socket: paths.socket, identity, log, stop, stopped };
}

/** The version and what the keeper's script holds: keepers of another content drain, those of an equal one serve on. */
function keeperVersion(version: string, script: string): string {
  const digest = createHash('sha256').update(readFileSync(script)).digest('hex');
  return `${version}+${digest.slice(0, 12)}`;
}

function prune(journal: Journal, log: Log): void {
  try {
    if (journal.prune()) setImmediate(() => prune(journal, log));
  } catch (error) {
    log.warn({ err: error }, 'old events could not be forgotten');
  }
}

// Puts the hub together and takes it apart. Start: home, lock, log, database, access, fleet, then the sockets; whatever fails gives back what
// was taken before.
import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { HubId } from '@roost/protocol';
import { openAccess, type Access } from './access/access.ts';
import { NodeKeys } from './access/node-keys.ts';
import { Audit } from './audit/audit.ts';
import type { Fleet } from './fleet/fleet.ts';
import type { DialTarget } from './fleet/node-way.ts';
import { Nodes } from './fleet/nodes.ts';
import { HUB_PORT_DEFAULT, isLoopback, readCertificate, readConfig, type HubConfig } from './home/config.ts';
import { prepareHome } from './home/home.ts';
import { acquireHomeLock } from './home/lock.ts';
import type { HubContext } from './http/context.ts';
import { FleetIndex } from './http/fleet-index.ts';
import { HubMetrics } from './http/metrics.ts';
import { OpenLines } from './http/open-lines.ts';
import { openApiDocument } from './http/openapi.ts';
import type { OwnPlaces } from './http/request-guard.ts';
import { HttpServer } from './http/server.ts';
import { WebFiles } from './http/web-files.ts';
import { openLog, type Log } from '@roost/storage';
import { hubIdentity } from './store/hub-identity.ts';
import { NodeTable } from './store/node-table.ts';
import { Store } from './store/store.ts';

/** What a fleet is made with. */
export interface FleetParts {
  readonly hubId: HubId;
  readonly version: string;
  readonly store: Store;
  readonly nodes: NodeTable;
  readonly keys: NodeKeys;
  readonly log: Log;
}

export interface RunningFleet extends Fleet {
  /** Links and relays end. */
  close(): void;
}

export interface HubOptions {
  readonly home: string;
  readonly version: string;
  /** The node beside the hub, which is dialled and enrolled by itself; null when there is none. */
  readonly localNode?: DialTarget | null | undefined;
  /** Instead of the real one: for tests. */
  readonly openFleet?: (parts: FleetParts) => RunningFleet;
  /** Directory of the built web UI; without one there is none. */
  readonly web?: string | undefined;
  /** Reads the API document as it was built: to make it takes a second, in which nobody is served. Made when it is left out. */
  readonly apiDocument?: (() => Promise<string>) | undefined;
  readonly logLevel?: string | undefined;
  /** Instead of the configuration file: for tests. */
  readonly config?: Partial<HubConfig> | undefined;
  /** Holds every answer of the hub itself against its schema: for tests. */
  readonly checkResults?: boolean;
  readonly monotonicNow?: () => number;
}

export interface Hub {
  readonly hubId: HubId;
  /** Where nodes and browsers find it. */
  readonly url: string;
  /** Where it listens on TCP. */
  readonly address: { readonly host: string; readonly port: number };
  /** Path of the socket of its owner. */
  readonly socket: string;
  readonly access: Access;
  readonly fleet: Fleet;
  readonly log: Log;
  /** Idempotent. Sessions of nodes are not touched. */
  stop(): Promise<void>;
  /** Resolves when the hub has stopped. */
  readonly stopped: Promise<void>;
}

/** @throws FailureError: home-unusable, home-path-too-long, hub-already-running, database-*, storage-*. */
export async function startHub(options: HubOptions): Promise<Hub> {
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

async function start(options: HubOptions, undo: Undo[]): Promise<Hub> {
  const { version, monotonicNow = () => performance.now() } = options;
  const paths = prepareHome(options.home);
  const lock = acquireHomeLock(paths.lock);
  undo.push(() => lock.release());
  const log = openLog(paths.log, options.logLevel);
  const config = { ...readConfig(paths.config), ...options.config };
  const certificate = readCertificate(paths.home, config);
  const store = Store.open(paths.database);
  undo.push(() => store.close());
  const nodes = new NodeTable(store);
  const keys = new NodeKeys(paths.home);
  keys.keepOnly(new Set(nodes.list().map(({ id }) => id)));
  const hubId = hubIdentity(store, { now: Date.now, random: randomBytes });
  log.info({ version, hubId }, 'hub starts');

  const access = openAccess({ store, nodes, monotonic: monotonicNow });
  const audit = new Audit({
    store,
    onLost: (cause) => log.error({ err: cause }, 'an answer is not in the audit log'),
  });
  const parts = { hubId, version, store, nodes, keys, log };
  const fleet = options.openFleet?.(parts) ?? openNodes(parts, options.localNode ?? null);
  undo.push(() => fleet.close());
  const index = new FleetIndex(fleet);
  undo.push(() => index.close());
  const lines = new OpenLines();

  let isStopping = false;
  let place: ReturnType<HubContext['place']> = placeOf(config, {
    host: config.listen.host,
    port: config.listen.port ?? HUB_PORT_DEFAULT,
  });
  const context: HubContext = {
    hubId,
    version,
    startedAt: new Date(),
    store,
    access,
    audit,
    fleet,
    index,
    lines,
    metrics: new HubMetrics({ fleet, lines }),
    apiDocument: options.apiDocument ?? (() => Promise.resolve(JSON.stringify(openApiDocument(version)))),
    web: options.web === undefined ? new WebFiles(new Map()) : WebFiles.read(options.web),
    log,
    monotonicNow,
    pin: certificate?.pin ?? null,
    place: () => place,
    requestStop: () => void setImmediate(() => void stop()),
    isStopping: () => isStopping,
    checkResults: options.checkResults === true,
  };
  const server = new HttpServer({ listen: config.listen, certificate, socket: paths.socket }, context);
  undo.push(() => server.close(() => undefined));
  const address = await server.start();
  place = placeOf(config, address);
  log.info({ url: place.url, socket: paths.socket }, 'hub serves');

  let stopping: Promise<void> | null = null;
  let tellStopped: () => void = () => undefined;
  const stopped = new Promise<void>((resolve) => {
    tellStopped = resolve;
  });
  const stopNow = async () => {
    log.info('hub stops');
    isStopping = true;
    await server.close(() => fleet.close());
    index.close();
    store.close();
    lock.release();
    tellStopped();
  };
  const stop = (): Promise<void> => (stopping ??= stopNow());
  return {
    hubId,
    url: place.url,
    address,
    socket: paths.socket,
    access,
    fleet,
    log,
    stop,
    stopped,
  };
}

function openNodes({ hubId, version, nodes, keys, log }: FleetParts, local: DialTarget | null): RunningFleet {
  const fleet = new Nodes({
    hubId,
    run: randomBytes(8).toString('hex'),
    table: nodes,
    keys,
    version,
    now: Date.now,
    random: Math.random,
    log: (message, facts) => log.info(facts, message),
  });
  fleet.begin(local);
  return fleet;
}

function placeOf(
  { publicUrl, tls }: HubConfig,
  { host, port }: { readonly host: string; readonly port: number },
): OwnPlaces & { readonly url: string } {
  const scheme = tls === null ? 'http' : 'https';
  const name = host.includes(':') ? `[${host}]` : host;
  const listened = `${scheme}://${name}:${port}`;
  const url = publicUrl ?? listened;
  // Not a name that anybody could give: what is listened on beside loopback is reached by its public name.
  const hosts = publicUrl === null ? (isLoopback(host) ? [] : [name]) : [new URL(publicUrl).hostname];
  return { scheme, url, hosts: new Set(hosts), origins: new Set(publicUrl === null ? [] : [publicUrl]) };
}

// The sessions that providers keep on this machine. One scan of a provider runs at a time, and serves everybody who asks meanwhile;
// who asks shortly after it gets the same, and a slow disk keeps nobody waiting for what was known a moment ago. Nothing here changes
// a file, and nothing is looked at before somebody asks.
import type { HistoryId, HistorySkipped } from '@roost/protocol';
import type { ProviderHistory, ProviderManifest } from '@roost/providers';
import { Deadline, OVER } from '../deadline.ts';
import { byNewest, NONE_SKIPPED, type Findings, type FoundSession } from './found-session.ts';
import type { KeptSession } from './kept-session.ts';
import { Places } from './places.ts';
import { DatabaseScanner } from './scan-database.ts';
import { FileScanner } from './scan-files.ts';

/** Milliseconds that a scan is taken for the truth: whoever turns pages or types quickly does not make the disk work. */
const FRESH_MS = 1_000;
/** Milliseconds that what is known is better than an answer that does not come, and how long the disk may take until then. */
const USABLE_MS = 30_000;
const PATIENCE_MS = 150;
/** Milliseconds of one scan; then what was found is told as incomplete. */
const SCAN_MS = 30_000;

export interface CatalogOptions {
  /** Absolute: whose sessions they are. */
  readonly home: string;
  readonly providers: readonly ProviderManifest[];
  /** The environment that a session of that provider has. */
  readonly environmentOf: (provider: ProviderManifest) => Readonly<Record<string, string>>;
  /** Milliseconds on a clock that never goes back. */
  readonly monotonicNow: () => number;
  readonly freshMs?: number;
}

/** Of one or all providers. The same object for as long as nothing is different. */
export interface Catalog {
  readonly sessions: readonly FoundSession[];
  readonly skipped: HistorySkipped;
  readonly incomplete: boolean;
}

interface Scanner {
  scan(isOver: () => boolean): Promise<Findings>;
  keep(session: FoundSession): KeptSession;
}

interface Known {
  readonly scanner: Scanner;
  findings: Findings | null;
  scannedAt: number;
  scan: Promise<Findings> | null;
}

export class HistoryCatalog {
  readonly places = new Places();
  readonly #options: CatalogOptions;
  readonly #known = new Map<string, Known>();
  #all: { readonly of: readonly Findings[]; readonly catalog: Catalog } | null = null;

  constructor(options: CatalogOptions) {
    this.#options = options;
    for (const provider of options.providers) {
      const { history } = provider;
      if (history === undefined) continue;
      const scanner = scannerOf(provider.id, history, {
        home: options.home,
        environment: options.environmentOf(provider),
      });
      this.#known.set(provider.id, { scanner, findings: null, scannedAt: 0, scan: null });
    }
  }

  has(provider: string): boolean {
    return this.#known.has(provider);
  }

  /** `provider`: only its sessions; null: all. Never throws. */
  async look(provider: string | null): Promise<Catalog> {
    const known = [...this.#known].filter(([id]) => provider === null || id === provider);
    const findings = await Promise.all(known.map(([, one]) => this.#findings(one)));
    const [only] = findings;
    if (only !== undefined && findings.length === 1) return only;
    return this.#together(findings);
  }

  /** Those whose id begins so. Looks again when none is known. */
  async find(beginning: string): Promise<FoundSession[]> {
    const known = this.#beginningWith(beginning);
    if (known.length > 0) return known;
    await this.look(null);
    return this.#beginningWith(beginning);
  }

  async session(id: HistoryId): Promise<FoundSession | null> {
    return (await this.find(id))[0] ?? null;
  }

  /** To be read. */
  keep(session: FoundSession): KeptSession {
    const known = this.#known.get(session.provider);
    if (known === undefined) throw new Error(`a session of ${session.provider} was found`);
    return known.scanner.keep(session);
  }

  #beginningWith(beginning: string): FoundSession[] {
    const all = [...this.#known.values()].flatMap(({ findings }) => findings?.sessions ?? []);
    return all.filter(({ id }) => id.startsWith(beginning));
  }

  async #findings(known: Known): Promise<Findings> {
    const { freshMs = FRESH_MS, monotonicNow } = this.#options;
    const { findings } = known;
    const age = monotonicNow() - known.scannedAt;
    if (known.scan === null && findings !== null && age < freshMs) return findings;
    known.scan ??= this.#scan(known).finally(() => {
      known.scan = null;
    });
    if (findings === null || age > USABLE_MS) return known.scan;
    // The scan goes on, and whoever asks next gets what it finds.
    const found = await Deadline.in(PATIENCE_MS).race(known.scan);
    return found === OVER ? findings : found;
  }

  async #scan(known: Known): Promise<Findings> {
    const { monotonicNow } = this.#options;
    const end = monotonicNow() + SCAN_MS;
    const found = await known.scanner.scan(() => monotonicNow() > end);
    await this.places.learn(found.sessions.map(({ summary }) => summary.directory));
    const findings = known.findings !== null && isSame(known.findings, found) ? known.findings : found;
    known.findings = findings;
    known.scannedAt = monotonicNow();
    return findings;
  }

  #together(of: readonly Findings[]): Catalog {
    const known = this.#all;
    if (known?.of.every((one, index) => one === of[index]) === true) return known.catalog;
    const skipped = { ...NONE_SKIPPED };
    for (const one of of) {
      for (const why of Object.keys(skipped) as (keyof HistorySkipped)[]) skipped[why] += one.skipped[why];
    }
    const catalog = {
      sessions: of.flatMap(({ sessions }) => sessions).sort(byNewest),
      skipped,
      incomplete: of.some(({ incomplete }) => incomplete),
    };
    this.#all = { of, catalog };
    return catalog;
  }
}

function scannerOf(
  provider: string,
  history: ProviderHistory,
  scene: { readonly home: string; readonly environment: Readonly<Record<string, string>> },
): Scanner {
  if (history.kind === 'database') return new DatabaseScanner(provider, history, history.file(scene));
  const companion = history.companion?.(scene) ?? null;
  return new FileScanner(provider, history, { root: history.root(scene), companion });
}

/** What was not read again is the same object. */
function isSame(one: Findings, other: Findings): boolean {
  return (
    one.incomplete === other.incomplete &&
    one.sessions.length === other.sessions.length &&
    one.sessions.every((session, index) => session === other.sessions[index]) &&
    (Object.keys(one.skipped) as (keyof HistorySkipped)[]).every(
      (why) => one.skipped[why] === other.skipped[why],
    )
  );
}

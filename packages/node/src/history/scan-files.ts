// Finds the sessions of a provider that keeps one file each. Files that are as they were at the last scan are only looked at, not
// read; everything waits for the disk, so the event loop turns between any two files.
import { isUtf8 } from 'node:buffer';
import { lstat, type Stats } from 'node:fs';
import type { HistorySkipped } from '@roost/protocol';
import type { HistoryFiles, HistoryPlace } from '@roost/providers';
import type { EntryKind, OpenDirectory } from '../workspaces/open-directory.ts';
import {
  faultBelow,
  isSameState,
  NotBelow,
  openDirectoryBelow,
  OpenFile,
  stateOf,
  type FileState,
} from './below.ts';
import { eachAtOnce } from './each-at-once.ts';
import { historyIdOf, NONE_SKIPPED, sortedOnce, type Findings, type FoundSession } from './found-session.ts';
import { KeptFile } from './kept-file.ts';
import type { KeptSession } from './kept-session.ts';
import { readSummary } from './session-head.ts';

/** Entries of directories that one scan looks at: a tree without end is not what a provider keeps. */
export const SCAN_ENTRIES_MAX = 50_000;
/** Directories and files that are under way at once: the disk is asked by four threads. */
const DIRECTORIES_AT_ONCE = 4;
const FILES_AT_ONCE = 16;
/** Bytes of the file that says more about all sessions. */
const COMPANION_BYTES_MAX = 8 * 1024 * 1024;

type Outcome = FoundSession | 'not-a-session' | keyof HistorySkipped;

interface Known {
  readonly state: FileState;
  readonly outcome: Outcome;
}

/** Of one provider. Scans of it must not overlap. */
export class FileScanner {
  readonly #provider: string;
  readonly #history: HistoryFiles;
  readonly #root: HistoryPlace;
  readonly #companion: HistoryPlace | null;
  /** By path from the root: what was there at the last scan. */
  #known = new Map<string, Known>();
  #companionText: string | null = null;

  constructor(
    provider: string,
    history: HistoryFiles,
    places: { root: HistoryPlace; companion: HistoryPlace | null },
  ) {
    this.#provider = provider;
    this.#history = history;
    this.#root = places.root;
    this.#companion = places.companion;
  }

  /** Never throws: what cannot be read is skipped. `isOver`: whether to stop and tell what was found. */
  async scan(isOver: () => boolean): Promise<Findings> {
    await this.#readCompanion();
    const run = new Run(isOver);
    const now = new Map<string, Known>();
    try {
      const root = await openDirectoryBelow(this.#root);
      await this.#walk(run, now, root, []);
    } catch (error) {
      run.count(error);
    }
    // What was not looked at this time is not forgotten.
    this.#known = run.incomplete ? new Map([...this.#known, ...now]) : now;
    return { sessions: sortedOnce(run.sessions), skipped: run.skipped, incomplete: run.incomplete };
  }

  async #readCompanion(): Promise<void> {
    const text = this.#companion === null ? null : await readCompanion(this.#companion);
    if (text === this.#companionText) return;
    this.#companionText = text;
    // What it says is part of what was found.
    this.#known.clear();
  }

  /** Closes the directory. */
  async #walk(
    run: Run,
    now: Map<string, Known>,
    directory: OpenDirectory,
    path: readonly string[],
  ): Promise<void> {
    try {
      const level = this.#history.levels[path.length];
      if (level === undefined) return;
      const isLast = path.length === this.#history.levels.length - 1;
      const names: string[] = [];
      const sort = (name: string, kind: EntryKind | null): boolean => {
        if (kind === (isLast ? 'file' : 'directory')) names.push(name);
        else if (kind === 'link' || (isLast && kind === 'other')) run.skip('links');
        return true;
      };
      await directory.list((entry) => {
        if (!run.enter()) return false;
        const name = isUtf8(entry.name) ? entry.name.toString() : '';
        if (!level.test(name)) return true;
        if (entry.kind !== null) return sort(name, entry.kind);
        return directory.kindOf(name).then((kind) => sort(name, kind));
      });
      await eachAtOnce(names, isLast ? FILES_AT_ONCE : DIRECTORIES_AT_ONCE, async (name) => {
        if (run.isOver()) return false;
        try {
          if (isLast) run.take(await this.#look(now, directory, [...path, name]));
          else await this.#walk(run, now, await directory.openChild(name), [...path, name]);
        } catch (error) {
          run.count(error);
        }
        return true;
      });
    } catch (error) {
      run.count(error);
    } finally {
      await directory.close();
    }
  }

  async #look(now: Map<string, Known>, directory: OpenDirectory, path: readonly string[]): Promise<Outcome> {
    const key = path.join('/');
    const name = path.at(-1) ?? '';
    const known = this.#known.get(key);
    if (known !== undefined && isSameState(known.state, stateOf(await look(directory.pathOf(name))))) {
      now.set(key, known);
      return known.outcome;
    }
    await using file = await OpenFile.in(directory, name);
    const outcome = await this.#read(file, path);
    now.set(key, { state: file.state, outcome });
    return outcome;
  }

  async #read(file: OpenFile, path: readonly string[]): Promise<Outcome> {
    const summary = await readSummary(this.#history, file, path, this.#companionText);
    if (typeof summary === 'string') return summary;
    return {
      id: historyIdOf(this.#provider, summary.sessionId),
      provider: this.#provider,
      summary,
      modifiedAt: Math.trunc(file.state.modifiedAt),
      place: { base: this.#root.base, below: [...this.#root.below, ...path] },
    };
  }

  keep(session: FoundSession): KeptSession {
    const { place } = session;
    if (place === null) throw new Error('a session of files has a place');
    return new KeptFile(this.#history, session, place, this.#companionText);
  }
}

/** What one scan has come to. */
class Run {
  readonly sessions: FoundSession[] = [];
  readonly skipped = { ...NONE_SKIPPED };
  incomplete = false;
  readonly #isOver: () => boolean;
  #entries = 0;

  constructor(isOver: () => boolean) {
    this.#isOver = isOver;
  }

  isOver(): boolean {
    this.incomplete ||= this.#isOver();
    return this.incomplete;
  }

  /** One more entry of a directory. @returns whether to go on. */
  enter(): boolean {
    this.#entries += 1;
    this.incomplete ||= this.#entries > SCAN_ENTRIES_MAX;
    return !this.isOver();
  }

  take(outcome: Outcome): void {
    if (outcome === 'not-a-session') return;
    if (typeof outcome === 'string') this.skip(outcome);
    else this.sessions.push(outcome);
  }

  skip(why: keyof HistorySkipped): void {
    this.skipped[why] += 1;
  }

  count(error: unknown): void {
    const { fault } = faultBelow(error);
    // It has gone since, or the provider never ran.
    if (fault !== 'missing') this.skip(fault === 'link' ? 'links' : 'unreadable');
  }
}

/** A third of the time that the promise of the platform takes, which is what a warm list consists of. */
function look(path: string): Promise<Stats> {
  return new Promise((resolve, reject) => {
    lstat(path, (error, stats) => {
      if (error === null) resolve(stats);
      else reject(error);
    });
  });
}

async function readCompanion(place: HistoryPlace): Promise<string | null> {
  try {
    await using file = await OpenFile.below(place);
    if (file.state.size > COMPANION_BYTES_MAX) return null;
    const bytes = await file.bytes(0, file.state.size);
    return isUtf8(bytes) ? bytes.toString('utf8') : null;
  } catch (error) {
    if (error instanceof NotBelow) return null;
    throw error;
  }
}

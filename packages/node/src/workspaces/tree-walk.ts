// The upper part of a workspace's tree, level by level, so that what is cut is what lies deepest. It never leaves the root, holds
// never more than one answer's entries however large a directory is, and can be asked at any time for what it has.
import { isUtf8 } from 'node:buffer';
import {
  INSPECTED_DEPTH_MAX,
  INSPECTED_ENTRIES_MAX,
  RepositoryPath,
  type TreeCut,
  type TreeEntry,
  type WorkspaceTree,
} from '@roost/protocol';
import { OpenDirectory, type ListedEntry } from './open-directory.ts';
import { Smallest } from './smallest.ts';

export interface WalkBudget {
  readonly deadline: { hasPassed(): boolean };
  /** Entries looked at. */
  readonly visitsMax: number;
}

/** In any case of letters: what is in them is made by tools, large, and of no interest. */
const SKIPPED_NAMES = ['.git', 'node_modules', 'target'];
/** A regular file of this name marks a directory that can be made again. Source: the Cache Directory Tagging Specification. */
const CACHE_TAG = 'CACHEDIR.TAG';

/** A directory of which the walk knows that it is one; `[]` is the root. */
type Components = readonly string[];

export class TreeWalk {
  readonly #root: string;
  readonly #budget: WalkBudget;
  readonly #entries: TreeEntry[] = [];
  readonly #cuts = new Set<TreeCut>();
  #visited = 0;
  #done = false;

  constructor(root: string, budget: WalkBudget) {
    this.#root = root;
    this.#budget = budget;
  }

  /** What was found until now; a walk that is not over yet is one whose time is. */
  get tree(): WorkspaceTree {
    const cuts = new Set(this.#cuts);
    if (!this.#done) cuts.add('time');
    const bytes = new Map(this.#entries.map((entry) => [entry, Buffer.from(entry.path)]));
    const none = Buffer.alloc(0);
    return {
      entries: [...this.#entries].sort((a, b) => Buffer.compare(bytes.get(a) ?? none, bytes.get(b) ?? none)),
      cuts: [...cuts].sort(),
      visited: this.#visited,
    };
  }

  /** Never throws: what cannot be read is a cut. */
  async run(): Promise<void> {
    let level: Components[] = [[]];
    for (let depth = 1; level.length > 0; depth += 1) {
      const next = await this.#walkLevel(level, depth);
      if (next === null) break;
      level = next;
    }
    this.#done = true;
  }

  /** The directories of the next level; null when the walk has to end. */
  async #walkLevel(level: readonly Components[], depth: number): Promise<Components[] | null> {
    const next: Components[] = [];
    for (const components of level) {
      if (this.#isOver()) return null;
      const found = await this.#walkDirectory(components);
      if (found === null) return null;
      for (const [name, entry] of found) if (isWalked(entry)) next.push([...components, name]);
    }
    if (depth < INSPECTED_DEPTH_MAX || next.length === 0) return next;
    this.#cuts.add('depth');
    return null;
  }

  /** Its entries that were kept; null when the walk has to end. */
  async #walkDirectory(components: Components): Promise<[string, TreeEntry][] | null> {
    let directory: OpenDirectory;
    try {
      directory = await this.#open(components);
    } catch {
      this.#cuts.add('unreadable');
      return [];
    }
    try {
      const isCache = components.length > 0 && (await directory.kindOf(CACHE_TAG)) === 'file';
      if (isCache) {
        this.#markSkipped(components.join('/'));
        return [];
      }
      return await this.#readEntries(directory, components);
    } finally {
      await directory.close();
    }
  }

  /** Each component from the one above it: none of them may be a link by now. */
  async #open(components: Components): Promise<OpenDirectory> {
    let directory = await OpenDirectory.open(this.#root);
    for (const name of components) {
      const parent = directory;
      try {
        directory = await parent.openChild(name);
      } finally {
        await parent.close();
      }
    }
    return directory;
  }

  async #readEntries(
    directory: OpenDirectory,
    components: Components,
  ): Promise<[string, TreeEntry][] | null> {
    const kept = new Smallest<ListedEntry>(INSPECTED_ENTRIES_MAX - this.#entries.length, (a, b) =>
      Buffer.compare(a.name, b.name),
    );
    const isWhole = await this.#visitAll(directory, kept);
    const found: [string, TreeEntry][] = [];
    for (const { name, kind } of kept.values) {
      const text = name.toString();
      const path = RepositoryPath.safeParse([...components, text].join('/'));
      if (!path.success) {
        this.#cuts.add('names');
        continue;
      }
      const known = kind ?? (await directory.kindOf(text));
      if (known === null) this.#cuts.add('unreadable');
      else {
        const skipped = known === 'directory' && SKIPPED_NAMES.includes(text.toLowerCase());
        found.push([text, { path: path.data, kind: known, skipped }]);
      }
    }
    this.#entries.push(...found.map(([, entry]) => entry));
    if (kept.dropped) this.#cuts.add('entries');
    return isWhole && !kept.dropped ? found : null;
  }

  /** Whether the budget was enough for all that could be read. */
  async #visitAll(directory: OpenDirectory, kept: Smallest<ListedEntry>): Promise<boolean> {
    const progress = { isWhole: true };
    try {
      await directory.list((entry) => {
        progress.isWhole = this.#visit();
        if (!progress.isWhole) return false;
        if (isUtf8(entry.name)) kept.add(entry);
        else this.#cuts.add('names');
        return true;
      });
    } catch {
      this.#cuts.add('unreadable');
    }
    return progress.isWhole;
  }

  /** Counts one more entry, unless the budget is spent. */
  #visit(): boolean {
    if (this.#isOver()) return false;
    if (this.#visited >= this.#budget.visitsMax) {
      this.#cuts.add('visits');
      return false;
    }
    this.#visited += 1;
    return true;
  }

  #isOver(): boolean {
    if (!this.#budget.deadline.hasPassed()) return false;
    this.#cuts.add('time');
    return true;
  }

  #markSkipped(path: string): void {
    const index = this.#entries.findIndex((entry) => entry.path === path);
    const entry = this.#entries[index];
    if (entry !== undefined) this.#entries[index] = { ...entry, skipped: true };
  }
}

function isWalked({ kind, skipped }: TreeEntry): boolean {
  return kind === 'directory' && !skipped;
}

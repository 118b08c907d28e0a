// Keeps the views of nodes on the disk, those that changed, every few seconds and at the end.
import type { EnrolledNode, NodeTable } from '../store/node-table.ts';
import { faultOf } from './fault.ts';
import type { NodeLink } from './link.ts';

/** Milliseconds between two savings of views that changed. */
const SAVE_MS = 5_000;
/** Views of one transaction: the disk is waited for, and others want their turn in between. */
const SAVED_AT_ONCE = 50;

export interface SavedNode {
  readonly node: EnrolledNode;
  readonly link: NodeLink;
  /** Changed since it was saved. */
  isDirty: boolean;
}

export interface ViewSaverOptions {
  readonly nodes: () => readonly SavedNode[];
  readonly table: NodeTable;
  readonly now: () => number;
  readonly log: (message: string, facts: Readonly<Record<string, unknown>>) => void;
}

export class ViewSaver {
  readonly #options: ViewSaverOptions;
  readonly #timer: NodeJS.Timeout;
  #isClosed = false;

  constructor(options: ViewSaverOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#saveInTurns(), SAVE_MS).unref();
  }

  /** Saves what is left. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#save(this.#options.nodes());
  }

  #saveInTurns(): void {
    const left = this.#options.nodes().filter(({ isDirty }) => isDirty);
    const saveSome = (): void => {
      if (this.#isClosed) return;
      this.#save(left.splice(0, SAVED_AT_ONCE));
      if (left.length > 0) setImmediate(saveSome);
    };
    if (left.length > 0) saveSome();
  }

  #save(nodes: readonly SavedNode[]): void {
    const { table, now, log } = this.#options;
    const dirty = nodes.filter(({ isDirty }) => isDirty);
    const views = dirty.flatMap(({ node, link }) => {
      const { view, seenAt } = link;
      if (view.cursor === null) return [];
      const { version } = view;
      return [{ nodeId: node.id, ...view.cursor, seenAt: seenAt ?? now(), version, state: view.store() }];
    });
    try {
      table.saveViews(views);
      for (const one of dirty) one.isDirty = one.link.view.cursor === null;
    } catch (error) {
      log('views could not be kept', { nodes: views.length, ...faultOf(error) });
    }
  }
}

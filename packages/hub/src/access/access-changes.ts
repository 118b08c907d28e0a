// Tells of access that has ended or changed, so that what was opened with it is closed or judged anew.
import type { TokenId, UserName } from '@roost/protocol';
import type { Store } from '../store/store.ts';
import type { Principal } from './principal.ts';

export type AccessChange =
  /** Their role, scope or whether they may log in; or they are gone. */
  | { readonly kind: 'user'; readonly user: UserName }
  | { readonly kind: 'token'; readonly id: TokenId }
  /** `id`: of the browser session. */
  | { readonly kind: 'cookie'; readonly id: string };

export class AccessChanges {
  readonly #store: Store;
  readonly #listeners = new Set<(change: AccessChange) => void>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Told after the change is committed; must not throw. Answers how to no longer be told. */
  onChange(listener: (change: AccessChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(change: AccessChange): void {
    this.#store.afterCommit(() => {
      for (const listener of [...this.#listeners]) listener(change);
    });
  }
}

/** Whether a change is about the access of that principal. */
export function concerns(change: AccessChange, { user, credential }: Principal): boolean {
  if (change.kind === 'user') return change.user === user;
  return credential.kind === change.kind && credential.id === change.id;
}

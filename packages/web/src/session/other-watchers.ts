// Who else has a terminal open: pure.
import type { UserName, Watcher } from '@roost/protocol';

export interface WatchedTerminal {
  /** Those who have it open through the hub, oneself among them. */
  readonly watchers: readonly Watcher[];
  /** Everybody who has it open, also without the hub; null: not known. */
  readonly attachedClients: number | null;
  /** null: one has not got it open, or not yet. */
  readonly ownRole: 'driver' | 'watcher' | null;
  /** null: the owner of the hub's directory. */
  readonly ownName: UserName | null;
}

export interface Onlooker {
  readonly name: string;
  /** null: the hub does not see it. */
  readonly drives: boolean | null;
}

/** Whoever drives first, then those who have been there longest; without oneself. */
export function otherWatchers({ watchers, attachedClients, ownRole, ownName }: WatchedTerminal): Onlooker[] {
  // Several pages of one person are alike: one that is doing what this page does is this one.
  const own = watchers.findIndex(
    ({ user, drives }) => ownRole !== null && user === ownName && drives === (ownRole === 'driver'),
  );
  const others = watchers
    .filter((_, index) => index !== own)
    .toSorted((a, b) => Number(b.drives) - Number(a.drives) || a.since.localeCompare(b.since))
    .map(({ user, drives }) => ({ name: user === ownName ? 'you elsewhere' : (user ?? 'owner'), drives }));
  const unseen = (attachedClients ?? 0) - watchers.length;
  if (unseen <= 0) return others;
  const drives = ownRole === 'driver' || others.some((one) => one.drives) ? false : null;
  return [...others, { name: unseen === 1 ? 'somebody at its machine' : `${unseen} at its machine`, drives }];
}

/** What a person calls one who asks to drive. Through a hub, nodes hear `web:ada`. */
export function askerName(
  clientName: string | null,
  terminal: Pick<WatchedTerminal, 'watchers' | 'ownName'> | null,
): string {
  const user = /^[^:]*:(.+)$/.exec(clientName ?? '')?.[1];
  if (user === undefined) return 'somebody at its machine';
  if (user === terminal?.ownName) return 'you elsewhere';
  // The owner has no name of a user there.
  const isOwner = user === 'local' && terminal?.watchers.some((one) => one.user === null) === true;
  if (!isOwner) return user;
  return terminal.ownName === null ? 'you elsewhere' : 'owner';
}

/** Whether it is known that no keystroke of anybody reaches it. */
export function isDriverless({ watchers, attachedClients }: WatchedTerminal): boolean {
  return (
    attachedClients !== null && attachedClients <= watchers.length && !watchers.some(({ drives }) => drives)
  );
}

import * as z from 'zod';
import { HubId } from '@roost/protocol';
import { newId, type RandomBytes } from '../access/secrets.ts';
import type { Store } from './store.ts';

const Row = z.object({ hub_id: HubId });

/** Made at the first start, and never changed. */
export function hubIdentity(
  store: Store,
  { now, random }: { now: () => number; random: RandomBytes },
): HubId {
  return store.transact((sql) => {
    const row = sql.get('SELECT hub_id FROM hub');
    if (row !== undefined) return Row.parse(row).hub_id;
    const made = HubId.parse(newId(random));
    sql.run('INSERT INTO hub (only, hub_id, created_at) VALUES (1, ?, ?)', made, now());
    return made;
  });
}

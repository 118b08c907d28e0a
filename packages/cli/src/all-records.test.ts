import { expect, it } from 'vitest';
import type { NodeConnection } from '@roost/client';
import { allRecords } from './all-records.ts';

it('lists the records of all pages, in order', async () => {
  const ids = ['a', 'b', 'c', 'd', 'e'];
  const asked: unknown[] = [];
  const request = (_: string, params: { after?: string }) => {
    asked.push(params);
    const from = params.after === undefined ? 0 : ids.indexOf(params.after) + 1;
    const records = ids.slice(from, from + 2).map((id) => ({ id }));
    return Promise.resolve({ records, truncated: from + 2 < ids.length });
  };
  const records = await allRecords({ request } as unknown as Pick<NodeConnection, 'request'>);
  expect(records.map(({ id }) => id)).toEqual(ids);
  expect(asked).toEqual([{}, { after: 'b' }, { after: 'd' }]);
});

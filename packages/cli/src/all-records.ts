/** All records of a node, page by page: one answer may not hold them. */
import type { NodeConnection } from '@roost/client';
import type { RecordId, SessionRecord } from '@roost/protocol';

export async function allRecords(connection: Pick<NodeConnection, 'request'>): Promise<SessionRecord[]> {
  const all: SessionRecord[] = [];
  for (let after: RecordId | undefined; ;) {
    const page = await connection.request('record.list', after === undefined ? {} : { after });
    all.push(...page.records);
    after = page.records.at(-1)?.id;
    if (!page.truncated || after === undefined) return all;
  }
}

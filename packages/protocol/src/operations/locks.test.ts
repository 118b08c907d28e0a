import { expect, it } from 'vitest';
import { OPERATIONS, type OperationName } from './index.ts';

const recordId = '00000000000000b1';
const sessionId = '00000000000000a1';

it('one at a time: what changes one record, removes one session, or registers workspaces; nothing that must not wait', () => {
  const locked = Object.entries(OPERATIONS).map(([name, { locks }]) => [
    name,
    (locks as (params: unknown) => readonly unknown[])({ recordId, sessionId }),
  ]);
  const record = [{ key: `record:${recordId}` }];
  const workspaces = [{ key: 'workspaces' }];
  const expected: Partial<Record<OperationName, unknown>> = {
    'record.rename': record,
    'record.setTask': record,
    'record.forget': record,
    'session.remove': [{ key: `session:${sessionId}` }],
    'workspace.register': workspaces,
    'workspace.createStandalone': workspaces,
    'workspace.unregister': workspaces,
  };
  expect(Object.fromEntries(locked.filter(([, locks]) => locks?.length !== 0))).toEqual(expected);
});

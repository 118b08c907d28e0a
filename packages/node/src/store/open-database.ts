// The node's database.
import * as z from 'zod';
import { openDatabase as open, type Sql } from '@roost/storage';
import { MIGRATIONS } from './migrations.ts';

/** 'Roos' */
const APPLICATION_ID = 0x526f6f73;

const CleanStop = z.object({ clean_stop: z.int() });

/** @throws FailureError as `openDatabase` of the storage does. */
export const openDatabase = (path: string): Sql =>
  open(path, { applicationId: APPLICATION_ID, migrations: MIGRATIONS, wasClosedCleanly });

function wasClosedCleanly(sql: Sql): boolean {
  const row = sql.get('SELECT clean_stop FROM node');
  return row !== undefined && CleanStop.parse(row).clean_stop === 1;
}

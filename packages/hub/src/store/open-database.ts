// The hub's database.
import { openDatabase as open, type Sql } from '@roost/storage';
import { MIGRATIONS } from './migrations.ts';

/** 'RHub' */
const APPLICATION_ID = 0x52487562;

/** @throws FailureError as `openDatabase` of the storage does. */
export const openDatabase = (path: string): Sql =>
  open(path, { applicationId: APPLICATION_ID, migrations: MIGRATIONS });

/** What is left of a resume that comes too late, with a real keeper that was stopped and goes on. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { KeeperId } from '@roost/protocol';
import { failureOf, TestHome, waitFor } from '../node-for-test.ts';
import { LaunchBench, runningSessions, writeProfile, writeProgram } from '../spawn/launching-for-test.ts';
import { findRecord, type RecordRow } from './record-table.ts';

let home: TestHome;
let bench: LaunchBench;

beforeEach(async () => {
  home = new TestHome();
  writeProgram(home, 'claude', '#!/bin/sh\nprintf "%s\\n" "$*" >> "$HOME/launches"\nexec cat\n');
  writeProfile(home, 'plain', { provider: 'claude' });
  bench = await LaunchBench.open(home);
});
afterEach(async () => {
  bench.crash();
  await home.remove();
});

const recordOf = (id: string): RecordRow => {
  const record = findRecord(bench.store.sql, id);
  if (record === null) throw new Error('it has a record');
  return record;
};

it('whatever its keeper starts late is ended, and the record can be resumed again', async () => {
  const { recordId, session: first } = await bench.submit(bench.spec());
  const [keeper] = home.keepers;
  const link = bench.keepers.get(KeeperId.parse(keeper?.id));
  if (keeper === undefined || link === null) throw new Error('a keeper runs');
  await link.call('stop', { sessionId: first.sessionId, graceMs: 0 }, 10_000);
  await waitFor(() => recordOf(recordId).state === 'dormant', 'the record to rest');
  const record = recordOf(recordId);

  process.kill(keeper.pid, 'SIGSTOP');
  try {
    expect(await failureOf(bench.resume(record, 300))).toBe('spawn-deadline-exceeded');
    expect(recordOf(recordId)).toMatchObject({ state: 'dormant', active_session_id: null });
  } finally {
    process.kill(keeper.pid, 'SIGCONT');
  }
  await waitFor(() => bench.discarded === 0, 'what was begun to be ended');
  expect(runningSessions(home)).toEqual([]);

  const { session } = await bench.resume(record);
  expect(runningSessions(home)).toEqual([session.id]);
  expect(recordOf(recordId)).toMatchObject({ state: 'live', active_session_id: session.id });
  const launches = () => readFileSync(join(home.path, 'launches'), 'utf8').replaceAll(/--settings \S+ /g, '');
  const resumes = () =>
    launches()
      .split('\n')
      .filter((line) => line.startsWith('--resume'));
  await waitFor(() => resumes().length > 0, 'the launch');
  expect(resumes().at(-1)).toBe(`--resume ${record.provider_session_id}`);
});

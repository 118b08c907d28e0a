import { mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import Database from 'libsql';
import { findProvider, type HistoryDatabase } from '@roost/providers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NONE_SKIPPED } from './found-session.ts';
import { makeOpenCode } from './history-for-test.ts';
import { DatabaseScanner } from './scan-database.ts';

const history = findProvider('opencode')?.history as HistoryDatabase;
const goOn = () => false;

let home: string;
let file: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'roost-history-'));
  file = join(home, '.local', 'share', 'opencode', 'opencode.db');
});
afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

const scanner = () => new DatabaseScanner('opencode', history, history.file({ home, environment: {} }));

describe('a database of sessions', () => {
  it('is none where the provider never ran', async () => {
    expect(await scanner().scan(goOn)).toEqual({ sessions: [], skipped: NONE_SKIPPED, incomplete: false });
  });

  it('is read while its program has it open, and after that', async () => {
    const database = makeOpenCode(home);
    const scan = scanner();
    const found = await scan.scan(goOn);
    expect(found.sessions).toMatchObject([
      { provider: 'opencode', summary: { title: 'Small talk', model: 'mock-model' }, place: null },
    ]);
    // Nothing was written: the same answer, without a question to the database.
    expect(await scan.scan(goOn)).toBe(found);
    database.exec("UPDATE session SET title = 'Other'");
    expect((await scan.scan(goOn)).sessions[0]?.summary.title).toBe('Other');
    database.close();
    expect((await scanner().scan(goOn)).sessions[0]?.summary.title).toBe('Other');
  });

  it('is left as it is, also when nobody has it open', async () => {
    const database = makeOpenCode(home);
    database.exec('PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = delete');
    database.close();
    database.open = false;
    const before = readdirSync(dirname(file));
    expect((await scanner().scan(goOn)).sessions).toHaveLength(1);
    expect(readdirSync(dirname(file))).toEqual(before);
  });

  it('of 10,000 sessions is read page by page', async () => {
    makeOpenCode(home, { sessions: 10_000 }).close();
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const found = await scanner().scan(goOn);
    delay.disable();
    expect(found).toMatchObject({ skipped: NONE_SKIPPED, incomplete: false });
    expect(found.sessions).toHaveLength(10_000);
    expect(delay.percentile(99) / 1e6).toBeLessThan(100);
    let looks = 0;
    const cut = await scanner().scan(() => (looks += 1) > 3);
    expect(cut.incomplete).toBe(true);
  });

  it('is seen as it was at one moment or the next while its program writes', async () => {
    const database = makeOpenCode(home);
    const scan = scanner();
    for (let round = 0; round < 50; round += 1) {
      const [found] = await Promise.all([
        scan.scan(goOn),
        Promise.resolve(database.exec(`UPDATE session SET title = 'title ${round}'`)),
      ]);
      expect(found.sessions[0]?.summary.title).toMatch(/^(Small talk|title \d+)$/);
    }
    database.close();
  });
});

describe('what is no such database', () => {
  const skippedIn = async () => {
    const { sessions, skipped } = await scanner().scan(goOn);
    expect(sessions).toEqual([]);
    return Object.entries(skipped).flatMap(([why, count]) => (count > 0 ? [`${why} ${count}`] : []));
  };

  it('is counted: damaged, of another program, of another version', async () => {
    makeOpenCode(home).close();
    for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
    writeFileSync(file, 'no database, but long enough to be taken for one'.repeat(100));
    expect(await skippedIn()).toEqual(['unreadable 1']);
    rmSync(file);
    const other = new Database(file);
    other.exec('CREATE TABLE session (id TEXT PRIMARY KEY)');
    other.close();
    expect(await skippedIn()).toEqual(['unknownFormat 1']);
  });

  it('is not run: a view in place of a table', async () => {
    const database = makeOpenCode(home);
    database.exec('ALTER TABLE session RENAME TO kept; CREATE VIEW session AS SELECT * FROM kept');
    database.close();
    expect(await skippedIn()).toEqual(['unknownFormat 1']);
  });

  it('is not followed: a link in its place, or in that of its log', async () => {
    makeOpenCode(home).close();
    renameSync(file, join(home, 'elsewhere.db'));
    symlinkSync(join(home, 'elsewhere.db'), file);
    expect(await skippedIn()).toEqual(['links 1']);
    rmSync(file);
    renameSync(join(home, 'elsewhere.db'), file);
    rmSync(`${file}-wal`, { force: true });
    symlinkSync(join(home, 'nowhere'), `${file}-wal`);
    expect(await skippedIn()).toEqual(['links 1']);
  });

  it('is passed over row by row: ids that nothing can be resumed by, values of other types', async () => {
    const database = makeOpenCode(home);
    database.exec(`
      INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated)
        VALUES ('--help', 'p', 's', '/a', 't', '1', 1, 1), ('ses_x', 'p', 's', x'ff00', x'ff', '1', 1, 'never');
      INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated, parent_id)
        VALUES ('ses_child', 'p', 's', '/a', 't', '1', 1, 1, 'ses_parent');
    `);
    const { sessions, skipped } = await scanner().scan(goOn);
    expect(sessions).toHaveLength(1);
    expect(skipped).toEqual({ ...NONE_SKIPPED, unknownFormat: 2 });
    database.close();
  });
});

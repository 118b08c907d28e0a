import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FailureError } from '@roost/protocol';
import { openDatabase, type DatabaseKind } from './open-database.ts';

const KIND: DatabaseKind = {
  applicationId: 0x54657374,
  migrations: [
    'CREATE TABLE users (name TEXT NOT NULL) STRICT',
    'CREATE TABLE others (name TEXT NOT NULL) STRICT',
  ],
};
const INSERT = 'INSERT INTO users (name) VALUES (?)';

describe('opening a database', () => {
  let directory: string;
  let path: string;

  const open = (from = path) => openDatabase(from, KIND);
  const create = () => {
    const sql = open();
    sql.exec('BEGIN');
    for (let number = 0; number < 300; number += 1) sql.run(INSERT, `user-${number}-${'x'.repeat(200)}`);
    sql.exec('COMMIT');
    sql.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    sql.close();
  };
  const count = () => {
    const sql = open();
    const { length } = sql.all('SELECT name FROM users');
    sql.close();
    return length;
  };
  const refusal = (work: () => unknown = open) => {
    try {
      work();
    } catch (error) {
      if (error instanceof FailureError) return error.failure.code;
      throw error;
    }
    return null;
  };

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'roost-database-'));
    path = join(directory, 'one.db');
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('makes a new one whole, and finds it again', () => {
    create();
    expect(existsSync(`${path}.new`)).toBe(false);
    expect(count()).toBe(300);
  });

  it('makes a new one over the remains of a creation that was cut off', () => {
    writeFileSync(`${path}.new`, 'half');
    create();
    expect(count()).toBe(300);
  });

  it('lets nobody but the owner read it or the files beside it, also when others could before', () => {
    create();
    // Another program holds it, and made the files beside it when others could read it.
    const holding = open();
    holding.run(INSERT, 'one');
    const modes = () => readdirSync(directory).map((name) => statSync(join(directory, name)).mode & 0o777);
    expect(readdirSync(directory)).toContain('one.db-wal');
    for (const name of readdirSync(directory)) chmodSync(join(directory, name), 0o644);
    const sql = open();
    sql.run(INSERT, 'two');
    expect(readdirSync(directory)).toContain('one.db-wal');
    expect(modes()).toEqual(modes().map(() => 0o600));
    sql.close();
    holding.close();
  });

  it.each<[string, () => void]>([
    ['is empty', () => truncateSync(path, 0)],
    ['was cut in its header', () => truncateSync(path, 50)],
    ['was cut in its middle', () => truncateSync(path, 16_384)],
    ['is no database', () => writeFileSync(path, 'something else entirely'.repeat(1_000))],
    [
      'was overwritten in its middle',
      () => {
        const bytes = readFileSync(path);
        bytes.fill('junk', 8_192, 40_000);
        writeFileSync(path, bytes);
      },
    ],
    ['has a log of junk', () => writeFileSync(`${path}-wal`, 'junk'.repeat(1_000))],
    ['has a log that was cut to a few bytes', () => writeFileSync(`${path}-wal`, 'junk')],
  ])('refuses one that %s, and changes nothing', (_, damage) => {
    create();
    damage();
    const contents = () =>
      [path, `${path}-wal`].map((file) => (existsSync(file) ? readFileSync(file).toString('base64') : null));
    const before = contents();
    expect(refusal()).toBe('database-corrupt');
    expect(contents()).toEqual(before);
  });

  it('refuses one of a program that was killed and that is damaged since, and leaves its log as it is', () => {
    create();
    const sql = open();
    sql.run(INSERT, 'newest');
    const killed = join(directory, 'killed.db');
    for (const suffix of ['', '-wal']) copyFileSync(path + suffix, killed + suffix);
    sql.close();
    const bytes = readFileSync(killed);
    bytes.fill('junk', 8_192, 40_000);
    writeFileSync(killed, bytes);
    const log = readFileSync(`${killed}-wal`);
    expect(log.length).toBeGreaterThan(0);
    expect(refusal(() => open(killed))).toBe('database-corrupt');
    expect(readFileSync(killed)).toEqual(bytes);
    expect(readFileSync(`${killed}-wal`)).toEqual(log);
  });

  it('loses nothing of one with junk behind its end', () => {
    create();
    appendFileSync(path, Buffer.alloc(10_000, 'junk'));
    expect(count()).toBe(300);
  });

  it('refuses one of a newer build, and says so', () => {
    create();
    const database = new Database(path);
    database.exec(`PRAGMA user_version = ${KIND.migrations.length + 1}`);
    database.close();
    expect(refusal()).toBe('database-too-new');
  });

  it('refuses the database of another program', () => {
    const database = new Database(path);
    database.exec('CREATE TABLE other (a); PRAGMA user_version = 1;');
    database.close();
    expect(refusal()).toBe('database-corrupt');
  });

  it('refuses one of another kind of ours, and brings one of an older build up to date', () => {
    const older = { ...KIND, migrations: KIND.migrations.slice(0, 1) };
    openDatabase(path, older).close();
    expect(refusal(() => openDatabase(path, { ...KIND, applicationId: 1 }))).toBe('database-corrupt');
    const sql = open();
    expect(sql.all('SELECT name FROM others')).toEqual([]);
    sql.close();
    expect(refusal(() => openDatabase(path, older))).toBe('database-too-new');
  });
});

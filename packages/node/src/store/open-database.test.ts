import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FailureError } from '@roost/protocol';
import { MIGRATIONS } from './migrations.ts';
import { openDatabase } from './open-database.ts';

describe('opening the database', () => {
  let directory: string;
  let path: string;

  const create = () => {
    const sql = openDatabase(path);
    for (let number = 0; number < 300; number += 1) {
      const id = `w${number}`;
      sql.run(
        'INSERT INTO workspaces (id, root, kind, created_at) VALUES (?, ?, ?, ?)',
        id,
        `/tmp/${'x'.repeat(200)}/${id}`,
        'plain',
        1,
      );
    }
    sql.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    sql.close();
  };
  const count = () => openDatabase(path).all('SELECT id FROM workspaces').length;
  const refusal = () => {
    try {
      openDatabase(path);
    } catch (error) {
      if (error instanceof FailureError) return error.failure.code;
      throw error;
    }
    return null;
  };

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'roost-database-'));
    path = join(directory, 'node.db');
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
  ])('refuses one that %s, and changes nothing', (_, damage) => {
    create();
    damage();
    const before = readFileSync(path);
    expect(refusal()).toBe('database-corrupt');
    expect(readFileSync(path)).toEqual(before);
  });

  it('loses nothing of one with junk behind its end', () => {
    create();
    appendFileSync(path, Buffer.alloc(10_000, 'junk'));
    expect(count()).toBe(300);
  });

  it('refuses one of a newer build, and says so', () => {
    create();
    const database = new Database(path);
    database.exec(`PRAGMA user_version = ${MIGRATIONS.length + 1}`);
    database.close();
    expect(refusal()).toBe('database-too-new');
  });

  it('refuses the database of another program', () => {
    const database = new Database(path);
    database.exec('CREATE TABLE other (a); PRAGMA user_version = 1;');
    database.close();
    expect(refusal()).toBe('database-corrupt');
  });
});

import { afterEach, beforeEach, expect, it } from 'vitest';
import { TestAccess } from '../access/access-for-test.ts';

let test: TestAccess;
beforeEach(() => {
  test = new TestAccess();
});
afterEach(() => test.remove());

const add = (name: string) =>
  test.store.sql.run('INSERT INTO users (name, role, created_at) VALUES (?, ?, 1)', name, 'admin');
const names = () =>
  test.store.sql
    .all('SELECT name FROM users ORDER BY name')
    .map((row) => Object.values(row as object)[0] as string);

it('keeps all of a change or nothing, with the changes within it', () => {
  test.store.transact(() => {
    add('one');
    test.store.transact(() => add('two'));
  });
  expect(() =>
    test.store.transact(() => {
      test.store.transact(() => add('three'));
      throw new Error('no');
    }),
  ).toThrow('no');
  expect(names()).toEqual(['one', 'two']);
  test.reopen();
  expect(names()).toEqual(['one', 'two']);
});

it('acts after the commit of the outermost change, and never after one that failed', () => {
  const seen: string[][] = [];
  const note = () => test.store.afterCommit(() => seen.push(names()));
  test.store.transact(() => {
    test.store.transact(() => {
      add('one');
      note();
    });
    add('two');
    expect(seen).toEqual([]);
  });
  expect(seen).toEqual([['one', 'two']]);
  expect(() =>
    test.store.transact(() => {
      note();
      throw new Error('no');
    }),
  ).toThrow('no');
  test.store.transact(() => add('three'));
  expect(seen).toHaveLength(1);
  note();
  expect(seen).toHaveLength(2);
});

it('takes back what was done beside it when a change comes to nothing, and then alone', () => {
  const undone: string[] = [];
  test.store.transact(() => test.store.afterRollback(() => undone.push('kept')));
  expect(() =>
    test.store.transact(() => {
      test.store.transact(() => test.store.afterRollback(() => undone.push('lost')));
      throw new Error('no');
    }),
  ).toThrow('no');
  expect(undone).toEqual(['lost']);
});

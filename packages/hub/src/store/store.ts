// Every change is a synchronous transaction: no `await` fits inside, and what is told of it is told after the commit.
import { foldLog, type Sql } from '@roost/storage';
import { openDatabase } from './open-database.ts';

export class Store {
  readonly sql: Sql;
  #isOpen = false;
  #afterCommit: (() => void)[] = [];
  #afterRollback: (() => void)[] = [];

  constructor(sql: Sql) {
    this.sql = sql;
  }

  /** `path`: of the database; made when there is none. @throws FailureError as `openDatabase` does. */
  static open(path: string): Store {
    return new Store(openDatabase(path));
  }

  /** All of the change or nothing. One within another is a part of it: what it throws is not to be caught there. */
  transact<T>(change: (sql: Sql) => T): T {
    if (this.#isOpen) return change(this.sql);
    this.#isOpen = true;
    let result: T;
    try {
      this.sql.exec('BEGIN IMMEDIATE');
      try {
        result = change(this.sql);
        this.sql.exec('COMMIT');
      } catch (error) {
        this.#rollback();
        throw error;
      }
    } catch (error) {
      this.#afterCommit = [];
      for (const act of this.#afterRollback.splice(0)) act();
      throw error;
    } finally {
      this.#isOpen = false;
    }
    this.#afterRollback = [];
    for (const act of this.#afterCommit.splice(0)) act();
    return result;
  }

  /** Acts when the transaction that is open now is committed, or at once when none is. `act` must not throw. */
  afterCommit(act: () => void): void {
    if (this.#isOpen) this.#afterCommit.push(act);
    else act();
  }

  /** Acts when the transaction that is open now comes to nothing: takes back what was done beside the database. `act` must not throw. */
  afterRollback(act: () => void): void {
    if (this.#isOpen) this.#afterRollback.push(act);
  }

  /** Folds the log into the file, so that the file alone is a whole copy. */
  close(): void {
    foldLog(this.sql);
    this.sql.close();
  }

  #rollback(): void {
    try {
      this.sql.exec('ROLLBACK');
    } catch {
      // SQLite has rolled back by itself, as it does on a full disk.
    }
  }
}

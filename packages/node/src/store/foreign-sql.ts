// A database that another program writes, opened for reading alone: neither it nor the files beside it are changed, and nothing that
// its schema holds is run.
import { pathToFileURL } from 'node:url';
import Database from 'libsql';
import * as z from 'zod';

type SqlValue = string | number | null;

const Schema = z.object({ type: z.string(), sql: z.string().nullable() });
const Column = z.object({ name: z.string() });

export class ForeignSql {
  readonly #database: Database.Database;
  readonly #statements = new Map<string, Database.Statement<SqlValue[]>>();

  /**
   * `isAtRest`: nobody has written since its log was folded in; then not even the files that share a log are made.
   * @throws the library's error.
   */
  constructor(path: string, isAtRest: boolean) {
    const how = isAtRest ? '?mode=ro&immutable=1' : '?mode=ro';
    // Who waits for a lock holds the whole node.
    this.#database = new Database(pathToFileURL(path).href + how, { timeout: 0 });
    this.#database.exec('PRAGMA query_only = 1; PRAGMA trusted_schema = 0;');
  }

  /** Whether these are plain tables, with these columns: a view or a virtual table would run what it says. */
  hasTables(tables: Readonly<Record<string, readonly string[]>>): boolean {
    return Object.entries(tables).every(([table, columns]) => {
      const parsed = Schema.safeParse(
        this.all('SELECT type, sql FROM sqlite_schema WHERE name = ?', table)[0],
      );
      if (!parsed.success || parsed.data.type !== 'table') return false;
      if (/^\s*CREATE\s+VIRTUAL\b/i.test(parsed.data.sql ?? '')) return false;
      // Computed columns are not in this list.
      const there = z.array(Column).parse(this.all('SELECT name FROM pragma_table_info(?)', table));
      return columns.every((column) => there.some(({ name }) => name === column));
    });
  }

  all(text: string, ...values: SqlValue[]): unknown[] {
    let statement = this.#statements.get(text);
    if (statement === undefined) {
      statement = this.#database.prepare<SqlValue[]>(text);
      this.#statements.set(text, statement);
    }
    return statement.all(...values);
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }
}

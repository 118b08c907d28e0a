// For tests only: what providers keep, written as they write it.
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'libsql';

const FIXTURES = fileURLToPath(new URL('../../../providers/fixtures', import.meta.url));

export const uuid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

export interface ClaudeSession {
  /** Of the id. */
  readonly number: number;
  readonly directory: string;
  readonly prompts?: readonly string[];
  /** Seconds since 1970. */
  readonly modifiedAt?: number;
}

export const CLAUDE_TOKENS = { input: 10, output: 2 };

/** Two lines for each prompt. */
export function claudeLines({ number, directory, prompts = ['hello'] }: ClaudeSession): string {
  const common = {
    sessionId: uuid(number),
    cwd: directory,
    timestamp: '2026-01-01T00:00:00.000Z',
    version: '2.1.197',
  };
  return prompts
    .flatMap((prompt, index) => [
      { ...common, type: 'user', message: { role: 'user', content: prompt } },
      {
        ...common,
        type: 'assistant',
        message: {
          id: `msg_${number}_${index}`,
          role: 'assistant',
          model: 'claude-test',
          content: [
            { type: 'text', text: `answer to ${prompt}` },
            { type: 'tool_use', id: 't', name: 'Bash', input: {} },
          ],
          usage: { input_tokens: CLAUDE_TOKENS.input, output_tokens: CLAUDE_TOKENS.output },
        },
      },
    ])
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');
}

/** @returns the path of its file. */
export function writeClaude(home: string, session: ClaudeSession): string {
  const folder = session.directory.replaceAll(/[^A-Za-z0-9]/g, '-');
  const file = join(home, '.claude', 'projects', folder, `${uuid(session.number)}.jsonl`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, claudeLines(session));
  if (session.modifiedAt !== undefined) utimesSync(file, session.modifiedAt, session.modifiedAt);
  return file;
}

interface Table {
  readonly sql: string;
  readonly rows: readonly Readonly<Record<string, string | number | null>>[];
}

/** The captured database of OpenCode, open, as it is while that runs; without the tables that its keys lead to. `sessions`: so many copies of the one session. */
export function makeOpenCode(home: string, { sessions = 1, directory = '' } = {}): Database.Database {
  const folder = join(home, '.local', 'share', 'opencode');
  mkdirSync(folder, { recursive: true });
  const database = new Database(join(folder, 'opencode.db'));
  const text = readFileSync(join(FIXTURES, 'opencode', 'history', 'database.json'), 'utf8');
  const tables = JSON.parse(text) as Record<string, Table>;
  database.exec('PRAGMA foreign_keys = 0; PRAGMA journal_mode = wal; BEGIN');
  for (const [name, { sql, rows }] of Object.entries(tables)) {
    database.exec(sql);
    for (const row of rows) {
      const columns = Object.keys(row);
      const insert = database.prepare(
        `INSERT INTO ${name} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
      );
      const copies = name === 'session' ? sessions : 1;
      for (let copy = 0; copy < copies; copy += 1) {
        const own = copy === 0 ? {} : { id: `ses_copy${String(copy).padStart(20, '0')}` };
        const place = name === 'session' && directory !== '' ? { directory } : {};
        insert.run(...Object.values({ ...row, ...own, ...place }));
      }
    }
  }
  database.exec('COMMIT');
  return database;
}

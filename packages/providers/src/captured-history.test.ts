/** What the real programs keep of their sessions, as it was captured, and spoiled versions of it. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { HistoryMessage, HistoryUsage } from '@roost/protocol';
import { describe, expect, test } from 'vitest';
import { nearby, seededRandom, spoilBytes, type Json } from '../../../test/support/mutate.ts';
import type { HistoryDatabase, HistoryFiles, HistoryItem, HistorySummary } from './history.ts';
import { findProvider } from './index.ts';
import { linesOf } from './history.ts';
import type { JsonObject } from './json-object.ts';

const FIXTURES = fileURLToPath(new URL('../fixtures', import.meta.url));
const PROJECT = '/tmp/roost-capture/project';
const OWN_ID = '00000000-0000-4000-8000-000000000001';
const BEGAN = Date.parse('2026-01-01T00:00:00.000Z');

function filesOf(provider: string): HistoryFiles {
  const history = findProvider(provider)?.history;
  if (history?.kind !== 'files') throw new Error(`${provider} keeps files`);
  return history;
}

const opencode = findProvider('opencode')?.history as HistoryDatabase;

interface Captured {
  readonly path: readonly string[];
  readonly text: string;
  readonly companion: string | null;
}

/** The session's file among the captured ones; ids in it are neutral, so the hash of the project is put right again. */
function captured(provider: string): Captured {
  const home = join(FIXTURES, provider, 'history');
  const history = filesOf(provider);
  const { below } = history.root({ home: '/', environment: {} });
  const names = readdirSync(join(home, ...below), { recursive: true, encoding: 'utf8' });
  const [path] = names
    .map((name) => name.split('/'))
    .filter(({ length }) => length === history.levels.length)
    .filter((parts) => parts.every((part, index) => history.levels[index]?.test(part)));
  if (path === undefined) throw new Error('no session was captured');
  const place = history.companion?.({ home: '/', environment: {} });
  const companion = place === undefined ? null : readFileSync(join(home, ...place.below), 'utf8');
  const text = readFileSync(join(home, ...below, ...path), 'utf8');
  const hash = createHash('sha256').update(PROJECT).digest('hex');
  return { path, text: text.replace(/"projectHash":"\d+"/, `"projectHash":"${hash}"`), companion };
}

function summarise(provider: string, { path, text, companion }: Captured) {
  return filesOf(provider).summarise({ path, head: text, isWhole: true, tail: '', companion });
}

function read(provider: string, text: string) {
  const reader = filesOf(provider).reader();
  const items = [...linesOf(text)].flatMap((line) => reader.read(line));
  return { items, usage: reader.usage() };
}

const told = (items: readonly HistoryItem[]) =>
  items.map(({ role, text, tools }) => [role, text, tools.join()]);

const FILES = ['claude', 'codex', 'gemini', 'qwen'] as const;

const DAY = [
  ['user', 'Say hello, turn-hello', ''],
  ['assistant', 'Hello! What shall we do today?', ''],
  ['user', 'Run it, turn-tool', ''],
];

describe('a captured session', () => {
  test.for([
    ['claude', 'claude-opus-4-8', '11Say hello, turn-hello'],
    ['codex', 'mock-model', 'Say hello, turn-hello'],
    ['gemini', 'gemini-2.5-flash', 'Say hello, turn-hello'],
    ['qwen', 'mock-model', 'Say hello, turn-hello'],
  ] as const)(
    'of %s is known by its own id, directory, time, model and first prompt',
    ([provider, model, title]) => {
      expect(summarise(provider, captured(provider))).toEqual({
        sessionId: OWN_ID,
        directory: PROJECT,
        startedAt: BEGAN,
        model,
        title,
      });
    },
  );

  test('of claude is the conversation, without what its interface put into it', () => {
    const { items, usage } = read('claude', captured('claude').text);
    expect(told(items)).toEqual([
      ['user', '11Say hello, turn-hello', ''],
      DAY[1],
      DAY[2],
      ['assistant', 'I run it.', ''],
      ['assistant', '', 'Bash'],
      ['assistant', 'The command has run.', ''],
    ]);
    // Two lines of one answer are counted once.
    expect(usage).toMatchObject({ inputTokens: 22_220 + 22_260 + 22_348, outputTokens: 15 + 51 + 12 });
  });

  test('of codex is the conversation, without what stands in front of it; tokens are those of the last count', () => {
    const { items, usage } = read('codex', captured('codex').text);
    expect(told(items)).toEqual([
      ...DAY,
      ['assistant', 'I run it.', ''],
      ['assistant', '', 'exec_command'],
      ['assistant', 'The command has run.', ''],
    ]);
    expect(usage).toMatchObject({ inputTokens: 40_558, outputTokens: 219, cacheReadTokens: 0 });
  });

  test('of gemini is the conversation; a message that is written again has the key of the first', () => {
    const { items, usage } = read('gemini', captured('gemini').text);
    expect(told(items)).toEqual([
      ...DAY,
      ['assistant', 'I run it.', ''],
      ['assistant', 'I run it.', 'run_shell_command'],
      ['assistant', 'The command has run.', ''],
    ]);
    expect(items[3]?.key).toBe(items[4]?.key);
    expect(usage).toMatchObject({ inputTokens: 175 + 206 + 332, outputTokens: 14 + 39 + 12 });
  });

  test('of qwen is the conversation', () => {
    const { items, usage } = read('qwen', captured('qwen').text);
    expect(told(items)).toEqual([
      ...DAY,
      ['assistant', 'I run it.', 'run_shell_command'],
      ['assistant', 'The command has run.', ''],
    ]);
    expect(usage).toMatchObject({ inputTokens: 19_640 + 19_674 + 19_808, outputTokens: 10 + 62 + 7 });
  });

  test('of opencode is rows of its database', () => {
    const { session, message, part } = databaseRows();
    expect(opencode.summarise(session.rows[0] ?? {})).toEqual({
      sessionId: expect.stringMatching(/^ses_/) as string,
      directory: PROJECT,
      title: 'Small talk',
      model: 'mock-model',
      startedAt: BEGAN,
      modifiedAt: BEGAN,
    });
    const items = message.rows.flatMap((row) => {
      const parts = part.rows.filter(({ message_id: of }) => of === row.id);
      return opencode.read({ ...row, time: row.time_created }, parts) ?? [];
    });
    expect(told(items)).toEqual([
      ...DAY,
      ['assistant', 'I run it.', 'bash'],
      ['assistant', 'The command has run.', ''],
    ]);
    expect(opencode.usage(session.rows[0] ?? {})).toMatchObject({ inputTokens: 24_335, outputTokens: 69 });
    for (const [table, columns] of Object.entries(opencode.tables)) {
      const rows = { session, message, part }[table]?.rows ?? [];
      expect(Object.keys(rows[0] ?? {})).toEqual(expect.arrayContaining([...columns]));
    }
  });
});

interface Table {
  readonly sql: string;
  readonly rows: readonly JsonObject[];
}

function databaseRows(): Record<'session' | 'message' | 'part', Table> {
  const file = join(FIXTURES, 'opencode', 'history', 'database.json');
  return JSON.parse(readFileSync(file, 'utf8')) as Record<'session' | 'message' | 'part', Table>;
}

describe('where sessions are', () => {
  const home = '/home/somebody';
  const root = (provider: string, environment: Record<string, string> = {}) => {
    const history = findProvider(provider)?.history;
    const scene = { home, environment };
    const place = history?.kind === 'database' ? history.file(scene) : history?.root(scene);
    return place === undefined ? null : [place.base, ...place.below].join('/');
  };

  test.for([
    ['claude', {}, `${home}/.claude/projects`],
    ['claude', { CLAUDE_CONFIG_DIR: '/else' }, '/else/projects'],
    ['codex', {}, `${home}/.codex/sessions`],
    ['codex', { CODEX_HOME: '/else' }, '/else/sessions'],
    ['gemini', {}, `${home}/.gemini/tmp`],
    ['gemini', { GEMINI_CLI_HOME: '/else' }, '/else/.gemini/tmp'],
    ['opencode', {}, `${home}/.local/share/opencode/opencode.db`],
    ['opencode', { XDG_DATA_HOME: '/else' }, '/else/opencode/opencode.db'],
    ['qwen', {}, `${home}/.qwen/projects`],
    ['qwen', { QWEN_HOME: '/else' }, '/else/projects'],
    ['qwen', { QWEN_HOME: '/else', QWEN_RUNTIME_DIR: '/run' }, '/run/projects'],
    // From where that would be, nobody knows.
    ['claude', { CLAUDE_CONFIG_DIR: 'relative' }, `${home}/.claude/projects`],
  ] as const)('for %s with %j is %s', ([provider, environment, expected]) => {
    expect(root(provider, environment)).toBe(expected);
  });
});

describe('a title', () => {
  const claude = (...lines: object[]) =>
    summarise('claude', {
      ...captured('claude'),
      text: [captured('claude').text.trimEnd(), ...lines.map((line) => JSON.stringify(line))].join('\n'),
    }) as HistorySummary;

  test('that a person gave goes before one that the agent gave, and that before the first prompt', () => {
    const own = { type: 'ai-title', aiTitle: 'Own title', sessionId: OWN_ID };
    const custom = { type: 'custom-title', customTitle: 'Given title', sessionId: OWN_ID };
    expect(claude().title).toBe('11Say hello, turn-hello');
    expect(claude(own).title).toBe('Own title');
    expect(claude(custom, own).title).toBe('Given title');
  });

  test('is one line of at most 256 bytes without control characters, cut between characters', () => {
    const { title } = claude({ type: 'ai-title', aiTitle: `a\n\x1b[31mb${'ü'.repeat(400)}` });
    expect(title).toMatch(/^a bü+…$/);
    expect(Buffer.byteLength(title ?? '')).toBeLessThanOrEqual(256);
  });
});

describe('what is no session of its own', () => {
  const codex = (change: object) => {
    const [meta = '', ...rest] = captured('codex').text.split('\n');
    const line = JSON.parse(meta) as { payload: object };
    const text = [JSON.stringify({ ...line, payload: { ...line.payload, ...change } }), ...rest].join('\n');
    return summarise('codex', { ...captured('codex'), text });
  };

  test('is passed over: the work of a sub-agent', () => {
    expect(codex({ thread_source: 'subagent' })).toBe('not-a-session');
    expect(codex({ source: { subagent: 'review' } })).toBe('not-a-session');
    const gemini = captured('gemini');
    const text = gemini.text.replace('"kind":"main"', '"kind":"subagent"');
    expect(summarise('gemini', { ...gemini, text })).toBe('not-a-session');
    const [row = {}] = databaseRows().session.rows;
    expect(opencode.summarise({ ...row, parent_id: 'ses_1' })).toBe('not-a-session');
    expect(opencode.summarise({ ...row, time_archived: 1 })).toBe('not-a-session');
  });

  test('is not understood: a file of another name or content', () => {
    for (const provider of FILES) {
      expect(summarise(provider, { ...captured(provider), text: '' })).toBeNull();
      expect(summarise(provider, { ...captured(provider), text: '{"a":1}\n[]\nnull\n"x"\n' })).toBeNull();
    }
    const { text, companion } = captured('claude');
    const path = ['p', '00000000-0000-4000-8000-000000000099.jsonl'];
    expect(summarise('claude', { path, text, companion })).toBeNull();
  });

  test('has no directory when the hash of its project is another one', () => {
    const gemini = captured('gemini');
    const companion = JSON.stringify({ projects: { '/elsewhere': gemini.path[0] } });
    expect(summarise('gemini', { ...gemini, companion })).toMatchObject({ directory: null });
  });
});

describe('spoiled sessions', () => {
  const check = (items: readonly HistoryItem[], usage: unknown) => {
    for (const { role, text, tools, at } of items) {
      HistoryMessage.parse({ role, text, tools, at: at === null ? null : new Date(at).toISOString() });
    }
    HistoryUsage.nullable().parse(usage);
  };

  test.for(FILES)(
    'of %s, whatever is in their JSON, are read without a fault and within the bounds',
    (provider) => {
      const one = captured(provider);
      const lines = [...linesOf(one.text)] as Json[];
      fc.assert(
        fc.property(fc.array(nearby(lines), { minLength: 1, maxLength: 8 }), (spoiled) => {
          const text = spoiled.map((line) => JSON.stringify(line)).join('\n');
          summarise(provider, { ...one, text: `${one.text}${text}` });
          summarise(provider, { ...one, text });
          const { items, usage } = read(provider, text);
          check(items, usage);
        }),
        { numRuns: 400 },
      );
    },
  );

  test.for(FILES)('of %s, whatever their bytes are, are read without a fault', (provider) => {
    const one = captured(provider);
    const random = seededRandom(7);
    const bytes = Buffer.from(one.text);
    for (let run = 0; run < 150; run += 1) {
      const text = spoilBytes(bytes, bytes, random).toString('utf8');
      summarise(provider, { ...one, text, companion: text });
      const { items, usage } = read(provider, text);
      check(items, usage);
    }
  });

  test('of opencode, whatever is in the rows, are read without a fault', () => {
    const { session, message, part } = databaseRows();
    const rows = [...session.rows, ...message.rows, ...part.rows] as Json[];
    const data = rows.flatMap((row) => {
      const text = (row as Record<string, Json>).data;
      return typeof text === 'string' ? [JSON.parse(text) as Json] : [];
    });
    fc.assert(
      fc.property(nearby(rows), nearby(data), nearby(data), (row, inMessage, inPart) => {
        const object = (
          typeof row === 'object' && row !== null && !Array.isArray(row) ? row : {}
        ) as JsonObject;
        opencode.summarise(object);
        const item = opencode.read({ ...object, data: JSON.stringify(inMessage) }, [
          object,
          { data: JSON.stringify(inPart) },
        ]);
        check(item === null ? [] : [item], opencode.usage(object));
      }),
      { numRuns: 400 },
    );
  });
});

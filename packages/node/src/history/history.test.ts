/** The operations on sessions that providers keep, over the wire. */
import { mkdirSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  HistoryId,
  HistoryReadCursor,
  OFFERED_CAPABILITIES,
  SessionName,
  type Capability,
  type HistoryCursor,
} from '@roost/protocol';
import { PROVIDERS } from '@roost/providers';
import { Slots } from '../control/slots.ts';
import type { Daemon } from '../daemon.ts';
import { failureOf, startTestNode, TestClient, TestHome, waitFor } from '../node-for-test.ts';
import { HistoryCatalog } from './catalog.ts';
import { CLAUDE_TOKENS, claudeLines, makeOpenCode, uuid, writeClaude } from './history-for-test.ts';
import { HISTORY_SLOTS, historyOperations } from './operations.ts';
import type { HistoryScene } from './operations.ts';

const WEEK_S = 7 * 24 * 60 * 60;

let home: TestHome;
let work: string;
let outside: string;
let daemon: Daemon;
let client: TestClient;
beforeEach(async () => {
  home = new TestHome();
  work = join(realpathSync(home.path), 'work');
  outside = join(realpathSync(home.path), 'outside-place');
  for (const directory of [work, outside]) mkdirSync(directory);
  daemon = await startTestNode(home);
  client = await TestClient.connect(daemon.socket);
  await client.call('workspace.register', { root: work, workspaceId: 'work' });
});
afterEach(async () => {
  client.close();
  await daemon.stop();
  await home.remove();
});

const now = () => Date.now() / 1_000;
const write = (number: number, more: { directory?: string; prompts?: string[]; modifiedAt?: number } = {}) =>
  writeClaude(home.path, { number, directory: work, ...more });
const list = (more: Parameters<typeof client.call<'history.list'>>[1] = {}) =>
  client.call('history.list', more);
const idOf = async (title: string) =>
  (await list()).entries.find((entry) => entry.title === title)?.id ?? HistoryId.parse('0'.repeat(16));

describe('the list', () => {
  it('is empty and no fault where no provider ever ran', async () => {
    expect(await list()).toMatchObject({ entries: [], recent: 0, older: 0, remaining: 0, nextCursor: null });
  });

  it('tells sessions of all providers, newest first, by where they ran', async () => {
    mkdirSync(join(work, 'deep', 'er'), { recursive: true });
    await client.call('workspace.register', { root: join(work, 'deep'), workspaceId: 'deep' });
    write(1, { prompts: ['at the root'], modifiedAt: now() - 10 });
    write(2, { prompts: ['below'], directory: join(work, 'sub', 'gone'), modifiedAt: now() - 20 });
    write(3, { prompts: ['in the deepest'], directory: join(work, 'deep', 'er'), modifiedAt: now() - 30 });
    write(4, { prompts: ['elsewhere'], directory: outside, modifiedAt: now() - 40 });
    write(5, { prompts: ['up and away'], directory: `${work}/../outside-place`, modifiedAt: now() - 50 });
    symlinkSync(work, join(home.path, 'link'));
    write(6, { prompts: ['over a link'], directory: join(home.path, 'link'), modifiedAt: now() - 60 });
    makeOpenCode(home.path, { directory: work }).close();
    const { entries, recent, older } = await list();
    expect(
      entries.map(({ title, workspaceId, place, group }) => [title, workspaceId, place, group?.name]),
    ).toEqual([
      ['at the root', 'work', null, undefined],
      ['below', 'work', 'sub/gone', undefined],
      ['in the deepest', 'deep', 'er', undefined],
      ['elsewhere', null, null, 'outside-place'],
      ['up and away', null, null, 'unknown'],
      ['over a link', 'work', null, undefined],
      ['Small talk', 'work', null, undefined],
    ]);
    expect([recent, older]).toEqual([6, 1]);
    const titles = async (params: Parameters<typeof list>[0]) =>
      (await list(params)).entries.map(({ title }) => title);
    expect(await titles({ scope: { kind: 'workspace', workspaceId: 'deep' } })).toEqual(['in the deepest']);
    expect(await titles({ scope: { kind: 'unregistered' } })).toEqual(['elsewhere', 'up and away']);
    expect(await titles({ provider: 'opencode' })).toEqual(['Small talk']);
    expect(await titles({ window: 'older' })).toEqual(['Small talk']);
  });

  it('tells no file, no directory and no id of a provider', async () => {
    write(1, { directory: outside });
    write(2);
    const answers = [await list(), await client.call('history.preview', { historyId: await idOf('hello') })];
    const text = JSON.stringify(answers);
    for (const secret of [uuid(1), uuid(2), home.path, '.claude', 'sessionId', 'cwd']) {
      expect(text).not.toContain(secret);
    }
  });

  it('refuses a provider that nobody knows, one that cannot be read, and a workspace that is none', async () => {
    expect(await failureOf(list({ provider: 'nobody' }))).toBe('unknown-provider');
    expect(await failureOf(list({ provider: 'shell' }))).toBe('history-unsupported');
    expect(await failureOf(list({ scope: { kind: 'workspace', workspaceId: 'none' } }))).toBe(
      'unknown-workspace',
    );
    expect(await failureOf(list({ limit: 0 }))).toBe('invalid-request');
    expect(await failureOf(list({ limit: 257 }))).toBe('invalid-request');
  });

  it('counts what was passed over', async () => {
    const file = write(1);
    writeFileSync(file.replace(uuid(1), uuid(2)), 'nonsense');
    symlinkSync(file, file.replace(uuid(1), uuid(3)));
    expect((await list()).skipped).toEqual({ links: 1, tooLarge: 0, unreadable: 0, unknownFormat: 1 });
  });
});

describe('pages', () => {
  const titlesOf = (page: { entries: readonly { title: string | null }[] }) =>
    page.entries.map(({ title }) => title);

  it('go through one list as it was, whatever comes meanwhile', async () => {
    for (let number = 1; number <= 5; number += 1) {
      write(number, { prompts: [`session ${number}`], modifiedAt: now() - number });
    }
    const first = await list({ limit: 2 });
    expect(titlesOf(first)).toEqual(['session 1', 'session 2']);
    expect(first.remaining).toBe(3);
    write(6, { prompts: ['newer'] });
    await waitFor(async () => {
      const other = await list({ limit: 1 });
      return other.revision !== first.revision && titlesOf(other)[0] === 'newer';
    }, 'the newer one to be listed');
    const second = await list({ limit: 2, cursor: first.nextCursor! });
    expect(titlesOf(second)).toEqual(['session 3', 'session 4']);
    expect([second.revision, second.cutoff]).toEqual([first.revision, first.cutoff]);
    const third = await list({ limit: 2, cursor: second.nextCursor! });
    expect(titlesOf(third)).toEqual(['session 5']);
    expect([third.remaining, third.nextCursor]).toEqual([0, null]);
  });

  it('end at the cutoff, which the list is bound to', async () => {
    write(1, { prompts: ['recent'], modifiedAt: now() - WEEK_S + 60 });
    write(2, { prompts: ['older'], modifiedAt: now() - WEEK_S - 60 });
    write(3, { prompts: ['oldest'], modifiedAt: now() - 2 * WEEK_S });
    const recent = await list({ window: 'recent' });
    expect([titlesOf(recent), recent.recent, recent.older, recent.remaining]).toEqual([['recent'], 1, 2, 0]);
    const older = await list({ window: 'older', limit: 1 });
    expect([titlesOf(older), older.remaining]).toEqual([['older'], 1]);
    expect(titlesOf(await list({ window: 'older', cursor: older.nextCursor! }))).toEqual(['oldest']);
    expect(await failureOf(list({ window: 'all', cursor: older.nextCursor! }))).toBe('stale-history-cursor');
  });

  it('are refused as stale with another question, other workspaces, or a list that nobody has', async () => {
    for (let number = 1; number <= 3; number += 1) write(number);
    const { nextCursor: cursor } = await list({ limit: 1 });
    const stale = (more: object) => failureOf(list({ limit: 1, cursor: cursor!, ...more }));
    expect(await stale({ provider: 'claude' })).toBe('stale-history-cursor');
    expect(await stale({ scope: { kind: 'unregistered' } })).toBe('stale-history-cursor');
    const [revision = '', window = '', id = ''] = cursor!.split('-');
    const made = (...parts: string[]) => parts.join('-') as HistoryCursor;
    expect(await stale({ cursor: made('f'.repeat(16), window, id) })).toBe('stale-history-cursor');
    expect(await stale({ cursor: made(revision, window, 'f'.repeat(16)) })).toBe('stale-history-cursor');
    expect(await stale({ cursor: 'nonsense' as HistoryCursor })).toBe('invalid-request');
    await client.call('workspace.register', { root: outside, workspaceId: 'outside' });
    expect(await stale({})).toBe('stale-history-cursor');
  });
});

describe('one session', () => {
  it('is found by its id and by a unique beginning of it', async () => {
    for (let number = 1; number <= 40; number += 1) write(number, { prompts: [`session ${number}`] });
    const { entries } = await list();
    const [entry] = entries;
    expect(await client.call('history.resolve', { selector: entry!.id })).toEqual(entry);
    const resolve = (selector: string) => failureOf(client.call('history.resolve', { selector }));
    expect(await resolve('f'.repeat(16))).toBe('unknown-history-session');
    expect(await resolve('../x')).toBe('invalid-request');
  });

  it('is previewed by its newest messages, cut, without controls', async () => {
    write(1, { prompts: ['one', 'two\r\nlines', `\x1b[31mred${'é'.repeat(5_000)}`] });
    const historyId = await idOf('one');
    const preview = await client.call('history.preview', { historyId, limit: 4 });
    expect(preview.hasEarlier).toBe(true);
    expect(preview.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    const [first, second, third] = preview.messages;
    expect(first?.text).toBe('two\nlines');
    expect(second).toMatchObject({ tools: ['Bash'], at: '2026-01-01T00:00:00.000Z' });
    expect(third?.text).toMatch(/^redé+…$/);
    expect(Buffer.byteLength(third?.text ?? '')).toBeLessThanOrEqual(4_096);
    expect((await client.call('history.preview', { historyId, limit: 24 })).hasEarlier).toBe(false);
    expect(await failureOf(client.call('history.preview', { historyId, limit: 25 }))).toBe('invalid-request');
  });

  it('is read in pages with what it used, and goes on after what was added', async () => {
    const prompts = Array.from({ length: 50 }, (_, index) => `prompt ${index}`);
    const file = write(1, { prompts });
    const historyId = await idOf('prompt 0');
    const first = await client.call('history.read', { historyId });
    expect([first.first, first.messages.length, first.total, first.skippedLines]).toEqual([0, 64, 100, 0]);
    expect(first.usage).toMatchObject({
      inputTokens: 50 * CLAUDE_TOKENS.input,
      outputTokens: 50 * CLAUDE_TOKENS.output,
      costUsd: null,
    });
    writeFileSync(file, claudeLines({ number: 1, directory: work, prompts: [...prompts, 'added'] }));
    const second = await client.call('history.read', { historyId, cursor: first.nextCursor! });
    expect([second.first, second.messages.length, second.total, second.nextCursor]).toEqual([
      64,
      38,
      102,
      null,
    ]);
    expect(second.messages.at(-2)?.text).toBe('added');
    // Another file has its name now.
    renameSync(file, `${file}.old`);
    writeFileSync(file, claudeLines({ number: 1, directory: work, prompts }));
    const again = client.call('history.read', { historyId, cursor: first.nextCursor! });
    expect(await failureOf(again)).toBe('stale-history-cursor');
    const beyond = HistoryReadCursor.parse(first.nextCursor!.replace('64-', '500-'));
    expect(await failureOf(client.call('history.read', { historyId, cursor: beyond }))).toBe(
      'stale-history-cursor',
    );
  });

  it('of a database is previewed and read like any other', async () => {
    const database = makeOpenCode(home.path, { directory: work });
    const historyId = await idOf('Small talk');
    const preview = await client.call('history.preview', { historyId, limit: 2 });
    expect(preview.messages.map(({ text, tools }) => [text, tools])).toEqual([
      ['I run it.', ['bash']],
      ['The command has run.', []],
    ]);
    const first = await client.call('history.read', { historyId, limit: 3 });
    expect(first.messages.map(({ text }) => text)).toEqual([
      'Say hello, turn-hello',
      'Hello! What shall we do today?',
      'Run it, turn-tool',
    ]);
    expect(first).toMatchObject({ total: 5, usage: { inputTokens: 24_335, outputTokens: 69, costUsd: 0 } });
    const second = await client.call('history.read', { historyId, cursor: first.nextCursor! });
    expect(second.messages.map(({ text }) => text)).toEqual(['I run it.', 'The command has run.']);
    database.close();
  });

  it('that is gone, or another one now, is told as that', async () => {
    const file = write(1);
    const historyId = await idOf('hello');
    const preview = () => failureOf(client.call('history.preview', { historyId }));
    writeFileSync(file, claudeLines({ number: 2, directory: work }));
    expect(await preview()).toBe('history-unreadable');
    rmSync(file);
    expect(await preview()).toBe('unknown-history-session');
    await waitFor(async () => (await list()).entries.length === 0, 'the session to be forgotten');
    expect(await preview()).toBe('unknown-history-session');
  });
});

describe('adopting', () => {
  it('makes one dormant record that resumes exactly that session where it ran, and no second one', async () => {
    const place = join(work, 'sub');
    mkdirSync(place);
    write(1, { directory: place });
    const historyId = await idOf('hello');
    const name = SessionName.parse('mine');
    const [record, other] = await Promise.all([
      client.call('history.adopt', { historyId, name }),
      client.call('history.adopt', { historyId, name }),
    ]);
    expect(record).toMatchObject({
      name: 'mine',
      provider: 'claude',
      state: 'dormant',
      workspaceId: 'work',
      workspaceRoot: work,
      directory: place,
      generation: 0,
      providerSession: { key: 'session-id', id: uuid(1), transcriptPath: null },
    });
    expect(other).toEqual(record);
    expect(await client.call('history.adopt', { historyId })).toEqual(record);
    expect((await client.call('record.list', {})).records).toHaveLength(1);
    expect((await list()).entries[0]?.recordId).toBe(record.id);
  });

  it('gives a name that no record has', async () => {
    for (const number of [1, 2]) write(number, { prompts: [`session ${number}`] });
    const adopt = async (title: string) =>
      (await client.call('history.adopt', { historyId: await idOf(title) })).name;
    expect([await adopt('session 1'), await adopt('session 2')]).toEqual(['claude', 'claude-2']);
  });

  it('is refused outside of every workspace, without its directory, and of a session that is gone', async () => {
    write(1, { prompts: ['outside'], directory: outside });
    write(2, { prompts: ['gone'], directory: join(work, 'gone') });
    const file = write(3, { prompts: ['removed'] });
    const ids = await Promise.all(['outside', 'gone', 'removed'].map(idOf));
    rmSync(file);
    const outcomes = [];
    for (const historyId of ids) outcomes.push(await failureOf(client.call('history.adopt', { historyId })));
    expect(outcomes).toEqual([
      'workspace-registration-required',
      'invalid-directory',
      'unknown-history-session',
    ]);
    expect((await client.call('record.list', {})).records).toEqual([]);
    await client.call('workspace.register', { root: outside, workspaceId: 'outside' });
    const adopted = await client.call('history.adopt', { historyId: ids[0]! });
    expect(adopted).toMatchObject({ workspaceId: 'outside', directory: outside });
  });
});

describe('who may', () => {
  it('look are operators, and adopt is a controller', async () => {
    write(1);
    const historyId = await idOf('hello');
    const observer = await TestClient.connect(daemon.socket, { role: 'observer' });
    for (const operation of ['history.list', 'history.preview', 'history.read', 'history.adopt'] as const) {
      const params = operation === 'history.list' ? {} : { historyId };
      expect(await failureOf(observer.call(operation, params as never))).toBe('observer-read-only');
    }
    client.lease = null;
    expect((await client.call('history.preview', { historyId })).messages).toHaveLength(2);
    expect(await failureOf(client.call('history.adopt', { historyId }))).toBe('controller-required');
    observer.close();
  });

  it('know less, see less: no pages, no other providers, and nothing by trying', async () => {
    write(1, { modifiedAt: now() });
    makeOpenCode(home.path, { directory: work }).close();
    const opencode = await idOf('Small talk');
    const peerWithout = (...missing: Capability[]) =>
      TestClient.connect(daemon.socket, {
        capabilities: OFFERED_CAPABILITIES.filter((one) => !missing.includes(one)),
      });
    const unpaged = await peerWithout('native-session-catalog-paging-v2');
    const { nextCursor } = await list({ limit: 1 });
    const seen = await unpaged.call('history.list', { limit: 1 });
    expect([seen.entries.length, seen.nextCursor]).toEqual([1, null]);
    expect(await failureOf(unpaged.call('history.list', { cursor: nextCursor! }))).toBe(
      'unsupported-capability',
    );
    const closed = await peerWithout('provider-id.open-v1');
    expect((await closed.call('history.list', {})).entries.map(({ provider }) => provider)).toEqual([
      'claude',
    ]);
    for (const historyId of [opencode, HistoryId.parse('f'.repeat(16))]) {
      expect(await failureOf(closed.call('history.preview', { historyId }))).toBe('unsupported-capability');
      expect(await failureOf(closed.call('history.adopt', { historyId }))).toBe('unsupported-capability');
      const resolving = closed.call('history.resolve', { selector: historyId });
      expect(await failureOf(resolving)).toBe('unknown-history-session');
    }
    const old = await peerWithout('native-session-catalog-v2', 'native-session-index-v2');
    expect(await failureOf(old.call('history.list', {}))).toBe('unsupported-capability');
    expect(await failureOf(old.call('history.adopt', { historyId: opencode }))).toBe(
      'unsupported-capability',
    );
    for (const one of [unpaged, closed, old]) one.close();
  });
});

describe('a catalog of its own', () => {
  const makeCatalog = (freshMs?: number) =>
    new HistoryCatalog({
      home: home.path,
      providers: PROVIDERS.filter(({ id }) => id === 'claude'),
      environmentOf: () => ({}),
      monotonicNow: () => performance.now(),
      ...(freshMs === undefined ? {} : { freshMs }),
    });
  const asking = (catalog: HistoryCatalog) => {
    const store = { sql: { get: () => undefined, all: () => [] } } as unknown as HistoryScene['store'];
    const handlers = historyOperations({ store, catalog, now: Date.now }, new Slots(HISTORY_SLOTS));
    const params = { scope: { kind: 'all' }, window: 'all', limit: 64, cursor: undefined } as const;
    return () => Promise.resolve(handlers['history.list'](params, undefined as never));
  };

  it('has the revision of before when it was looked through again and nothing is different', async () => {
    const file = write(1);
    const ask = asking(makeCatalog(0));
    const before = await ask();
    expect((await ask()).revision).toBe(before.revision);
    writeFileSync(file, claudeLines({ number: 1, directory: work, prompts: ['hello', 'more'] }));
    expect((await ask()).revision).not.toBe(before.revision);
  });

  it('is looked through once for many who ask, and refuses at once those beyond the bound', async () => {
    let scans = 0;
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const catalog = makeCatalog();
    write(1);
    const learn = catalog.places.learn.bind(catalog.places);
    catalog.places.learn = async (directories) => {
      scans += 1;
      await gate;
      await learn(directories);
    };
    const ask = asking(catalog);
    const waiting = Array.from({ length: HISTORY_SLOTS }, ask);
    expect(await failureOf(ask())).toBe('backend-busy');
    open();
    const answers = await Promise.all(waiting);
    expect(answers.map(({ entries }) => entries.length)).toEqual(Array<number>(HISTORY_SLOTS).fill(1));
    expect((await ask()).entries).toHaveLength(1);
    expect(scans).toBe(1);
  });
});

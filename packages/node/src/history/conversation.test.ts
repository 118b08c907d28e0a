import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { historyIdOf } from './found-session.ts';
import type { HistoryFiles, HistoryItem } from '@roost/providers';
import { findProvider } from '@roost/providers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OpenFile } from './below.ts';
import { Conversation } from './conversation.ts';
import { claudeLines, uuid, writeClaude } from './history-for-test.ts';
import { KeptFile } from './kept-file.ts';
import { LINE_BYTES_MAX, readLines } from './read-lines.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'roost-history-'));
});
afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

const item = (text: string, more: Partial<HistoryItem> = {}): HistoryItem => ({
  role: 'user',
  text,
  tools: [],
  at: null,
  key: null,
  ...more,
});
const textsOf = (conversation: Conversation) => conversation.messages().map(({ text }) => text);

describe('a conversation', () => {
  it('holds the window that was asked for, and counts all', () => {
    const from = new Conversation({ kind: 'from', first: 1, limit: 2 });
    const last = new Conversation({ kind: 'last', limit: 2 });
    for (const text of ['a', 'b', 'c', 'd']) for (const one of [from, last]) one.add(item(text));
    expect([textsOf(from), from.count]).toEqual([['b', 'c'], 4]);
    expect([textsOf(last), last.count]).toEqual([['c', 'd'], 4]);
  });

  it('puts tools to the answer that they belong to, and makes an answer of them when there is none', () => {
    const conversation = new Conversation({ kind: 'last', limit: 10 });
    const tools = (...names: string[]) => item('', { role: 'assistant', tools: names });
    for (const one of [
      item('go'),
      tools('Read'),
      tools('Bash'),
      item('stop'),
      item('so', { role: 'assistant' }),
    ]) {
      conversation.add(one);
    }
    conversation.add(tools('Edit'));
    expect(conversation.messages().map(({ role, text, tools: named }) => [role, text, named])).toEqual([
      ['user', 'go', []],
      ['assistant', '', ['Read', 'Bash']],
      ['user', 'stop', []],
      ['assistant', 'so', ['Edit']],
    ]);
  });

  it('replaces a message that is told again', () => {
    const conversation = new Conversation({ kind: 'last', limit: 10 });
    for (const text of ['half', 'whole']) conversation.add(item(text, { key: 'k' }));
    expect([textsOf(conversation), conversation.count]).toEqual([['whole'], 1]);
  });
});

describe('lines of a file', () => {
  const linesOf = async (content: string | Buffer, from = 0) => {
    writeFileSync(join(home, 'file'), content);
    await using file = await OpenFile.below({ base: home, below: ['file'] });
    const seen: unknown[] = [];
    const { skipped } = await readLines(file, from, (line) => seen.push(line));
    return { seen, skipped };
  };

  it('are objects; what is damaged, half-written, no text or too long is counted and passed over', async () => {
    const long = JSON.stringify({ long: 'x'.repeat(LINE_BYTES_MAX) });
    const content = Buffer.concat([
      Buffer.from(`{"a":1}\n\n[1]\nnonsense\n${long}\n{"b":2}\n`),
      Buffer.from([0x7b, 0xff, 0x7d, 0x0a]),
      Buffer.from('{"c":3}\n{"half":'),
    ]);
    expect(await linesOf(content)).toEqual({ seen: [{ a: 1 }, { b: 2 }, { c: 3 }], skipped: 5 });
    expect(await linesOf('{"a":1}')).toEqual({ seen: [{ a: 1 }], skipped: 0 });
  });

  it('from the middle begin with the next whole one, wherever pieces end', async () => {
    const lines = Array.from({ length: 5_000 }, (_, index) => ({ index, text: 'y'.repeat(index % 97) }));
    const content = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    expect((await linesOf(content)).seen).toEqual(lines);
    const { seen, skipped } = await linesOf(content, 200_000);
    expect(lines.slice(-seen.length)).toEqual(seen);
    expect(skipped).toBe(0);
  });
});

describe('a session that is written to while it is read', () => {
  const history = findProvider('claude')?.history as HistoryFiles;
  const keep = (number: number) => {
    const summary = { sessionId: uuid(number), directory: '/a', title: null, model: null, startedAt: null };
    const place = { base: home, below: ['.claude', 'projects', '-a', `${uuid(number)}.jsonl`] };
    const id = historyIdOf('claude', uuid(number));
    return new KeptFile(history, { id, provider: 'claude', summary, modifiedAt: 0, place }, place, null);
  };

  it('is told as far as it was whole, and goes on where it ended', async () => {
    // Longer than one piece of a file.
    const file = writeClaude(home, { number: 1, directory: '/a', prompts: ['x'.repeat(300_000)] });
    const kept = keep(1);
    let [last, identity] = [0, ''];
    for (let round = 0; round < 60; round += 1) {
      const more = claudeLines({ number: 1, directory: '/a', prompts: [`prompt ${round}`] });
      const cut = Math.floor(more.length / 2);
      const reading = kept.read({ kind: 'from', first: 0, limit: 1_000 });
      appendFileSync(file, more.slice(0, cut));
      const read = await reading;
      identity ||= read.identity;
      expect(read.identity).toBe(identity);
      expect(read.conversation.count).toBeGreaterThanOrEqual(last);
      last = read.conversation.count;
      appendFileSync(file, more.slice(cut));
    }
    const { conversation } = await kept.read({ kind: 'from', first: 0, limit: 1_000 });
    expect(conversation.count).toBe(2 + 2 * 60);
    expect(textsOf(conversation).at(-1)).toBe('answer to prompt 59');
    expect(textsOf((await kept.newest(2)).conversation)).toEqual(['prompt 59', 'answer to prompt 59']);
  });

  it('is unreadable when another one is in its place, and unknown when it is gone', async () => {
    const file = writeClaude(home, { number: 1, directory: '/a' });
    writeFileSync(file, claudeLines({ number: 2, directory: '/a' }));
    await expect(keep(1).summary()).rejects.toThrow('history-unreadable');
    rmSync(file);
    await expect(keep(1).summary()).rejects.toThrow('unknown-history-session');
  });
});

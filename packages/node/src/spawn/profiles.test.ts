import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Incarnation, SPAWN_PROFILES_MAX, type EventBody } from '@roost/protocol';
import { openDatabase } from '../store/open-database.ts';
import { Store } from '../store/store.ts';
import { SpawnProfiles } from './profiles.ts';

describe('spawn profiles', () => {
  let home: string;
  let directory: string;
  let store: Store;
  let events: EventBody[];
  const open: SpawnProfiles[] = [];

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'roost-profiles-'));
    directory = join(home, 'profiles', 'spawn');
    mkdirSync(directory, { recursive: true });
    store = new Store(openDatabase(join(home, 'node.db')));
    store.transact((transaction) => store.begin(transaction, Incarnation.parse('0'.repeat(16))));
    events = [];
    store.onEvent(({ body }) => events.push(body));
  });
  afterEach(() => {
    for (const profiles of open.splice(0)) profiles.close();
    store.close();
    rmSync(home, { recursive: true, force: true });
  });

  const load = () => {
    const profiles = new SpawnProfiles({ directory, store, log: pino({ enabled: false }) });
    open.push(profiles);
    return profiles;
  };
  const write = (name: string, content: unknown) =>
    writeFileSync(join(directory, name), typeof content === 'string' ? content : JSON.stringify(content));
  const revisionOf = (profiles: SpawnProfiles, id: string) => profiles.profiles.get(id)?.revision;

  it('are read with their defaults, sorted by id as bytes, and summed up without arguments or prompt', () => {
    write('b.json', { provider: 'claude', description: 'Reads', prompt: 'secret', arguments: ['--secret'] });
    write('B.json', { provider: 'shell', transport: 'pipe', revision: 'r1' });
    write('notes.txt', 'no profile');
    write('.hidden.json', 'no profile');
    const profiles = load();
    expect(profiles.faults).toEqual([]);
    expect(profiles.summaries()).toEqual([
      {
        id: 'B',
        revision: 'r1',
        description: null,
        provider: 'shell',
        transport: 'pipe',
        environmentProfile: null,
      },
      {
        id: 'b',
        revision: expect.stringMatching(/^sha256:[0-9a-f]{24}$/) as string,
        description: 'Reads',
        provider: 'claude',
        transport: 'pty',
        environmentProfile: null,
      },
    ]);
    expect(profiles.profiles.get('b')?.profile).toMatchObject({
      size: { columns: 80, rows: 24 },
      prompt: 'secret',
    });
  });

  it('have a revision of their content, not of how it is written', () => {
    write('a.json', '{"provider":"claude","arguments":["x"]}');
    write('b.json', '{\n  "arguments": ["x"],\n  "provider": "claude"\n}');
    write('c.json', '{"provider":"claude","arguments":["y"]}');
    const profiles = load();
    expect(revisionOf(profiles, 'a')).toBe(revisionOf(profiles, 'b'));
    expect(revisionOf(profiles, 'a')).not.toBe(revisionOf(profiles, 'c'));
  });

  it('that cannot be used are named with a sentence and harm no other', () => {
    write('good.json', { provider: 'claude' });
    write('text.json', 'provider: claude');
    write('field.json', { provider: 'claude', shell: true });
    write('value.json', { provider: 'claude', size: { columns: 0, rows: 1 } });
    write('large.json', { provider: 'claude', description: 'x'.repeat(70_000) });
    write('a b.json', { provider: 'claude' });
    writeFileSync(join(directory, 'bytes.json'), Buffer.from('{"provider":"cl\xe9"}', 'latin1'));
    mkdirSync(join(directory, 'folder.json'));
    symlinkSync(join(directory, 'good.json'), join(directory, 'link.json'));
    execFileSync('mkfifo', [join(directory, 'pipe.json')]);
    const profiles = load();
    expect([...profiles.profiles.keys()]).toEqual(['good']);
    expect(profiles.faults).toEqual([
      { file: 'a b.json', fault: 'The name of the file is no profile id.' },
      { file: 'bytes.json', fault: 'It is not UTF-8.' },
      { file: 'field.json', fault: expect.stringContaining('shell') as string },
      { file: 'folder.json', fault: 'It is not a file.' },
      { file: 'large.json', fault: 'It is larger than 65536 bytes.' },
      { file: 'link.json', fault: 'It is a link.' },
      { file: 'pipe.json', fault: 'It is not a file.' },
      { file: 'text.json', fault: 'It is not JSON.' },
      { file: 'value.json', fault: expect.stringContaining('"size.columns"') as string },
    ]);
  });

  it('are no more than a node may have', () => {
    for (let number = 0; number <= SPAWN_PROFILES_MAX; number += 1) {
      write(`p${String(number).padStart(3, '0')}.json`, { provider: 'claude' });
    }
    const profiles = load();
    expect(profiles.profiles.size).toBe(SPAWN_PROFILES_MAX);
    expect(profiles.faults).toHaveLength(1);
  });

  it('are read anew when a file was written, replaced or removed, and each change is told once', () => {
    write('a.json', { provider: 'claude' });
    const profiles = load();
    profiles.refresh();
    expect(events).toHaveLength(1);
    write('a.json', { provider: 'claude', description: 'new' });
    profiles.refresh();
    profiles.refresh();
    expect(events).toHaveLength(2);
    expect(events[1]).toMatchObject({
      kind: 'spawn-profiles-changed',
      profiles: [{ id: 'a', description: 'new' }],
    });
    write('.a.tmp', { provider: 'shell' });
    renameSync(join(directory, '.a.tmp'), join(directory, 'a.json'));
    profiles.refresh();
    expect(events[2]).toMatchObject({ profiles: [{ provider: 'shell' }] });
    unlinkSync(join(directory, 'a.json'));
    profiles.refresh();
    expect(events[3]).toMatchObject({ profiles: [] });
    expect(events).toHaveLength(4);
  });

  it('are told without anybody asking', async () => {
    load();
    write('a.json', { provider: 'claude' });
    const deadline = Date.now() + 10_000;
    while (events.length === 0 && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 10));
    expect(events).toHaveLength(1);
  });

  it('that changed while no node ran are told at the next start, those that did not are not', () => {
    write('a.json', { provider: 'claude' });
    load().close();
    load().close();
    expect(events).toHaveLength(1);
    write('a.json', { provider: 'claude', description: 'new' });
    load().close();
    expect(events).toHaveLength(2);
  });
});

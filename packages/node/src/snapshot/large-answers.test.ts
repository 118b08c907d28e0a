import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  Incarnation,
  KeeperId,
  NODE_FRAME_BYTES_MAX,
  PATH_BYTES_MAX,
  RecordId,
  SESSIONS_MAX,
  SessionId,
  SessionName,
  WorkspaceId,
  WORKSPACES_MAX,
  type SessionRecord,
} from '@roost/protocol';
import type { Daemon } from '../daemon.ts';
import { prepareHome } from '../home/home.ts';
import { randomHexId } from '../node-identity.ts';
import { failureOf, startTestNode, TestClient, TestHome } from '../node-for-test.ts';
import { newRecordRow } from '../records/new-record.ts';
import { insertRecord } from '../records/record-table.ts';
import { newSessionRow } from '../sessions/new-session-row.ts';
import { insertSession } from '../sessions/session-table.ts';
import { openDatabase } from '../store/open-database.ts';
import { Store } from '../store/store.ts';

/** The longest path, of characters that take two bytes in JSON. */
const longPath = (number: number) => `/${number}/`.padEnd(PATH_BYTES_MAX, '"');
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

describe('answers of a node that holds a lot', () => {
  let home: TestHome;
  let daemon: Daemon;
  let client: TestClient;

  /** As many workspaces as there may be, and these records, every path as long as can be. */
  const fill = (records: readonly Pick<SessionRecord, 'state'>[]) => {
    const store = new Store(openDatabase(prepareHome(home.path).database));
    store.transact((transaction) => {
      store.begin(transaction, Incarnation.parse(randomHexId()));
      for (let number = 0; number < WORKSPACES_MAX; number += 1) {
        transaction.sql.run(
          "INSERT INTO workspaces (id, root, kind, created_at) VALUES (?, ?, 'plain', 1)",
          `w${number}`,
          longPath(number),
        );
      }
      for (const [index, { state }] of records.entries()) {
        const row = newRecordRow({
          id: RecordId.parse(randomHexId()),
          name: SessionName.parse(`r${index}`),
          provider: 'claude',
          transport: 'pty',
          workspaceId: WorkspaceId.parse('w0'),
          workspaceRoot: longPath(0),
          directory: longPath(0),
          arguments: [],
          providerSession: { key: 'session-id', id: `s${index}` },
          run: null,
          environmentProfile: null,
          bundle: null,
          context: null,
          createdAt: 1_000 + index,
        });
        insertRecord(transaction, { ...row, state });
      }
    });
    store.close();
  };
  const start = async () => {
    daemon = await startTestNode(home);
    client = await TestClient.connect(daemon.socket);
  };

  beforeEach(() => {
    home = new TestHome();
  });
  afterEach(async () => {
    client.close();
    await daemon.stop();
    await home.remove();
  });

  it('fit into a frame: workspaces whole, records page by page, a snapshot without what matters least', async () => {
    const old = Array.from({ length: 600 }, () => ({ state: 'unavailable' as const }));
    fill([{ state: 'dormant' }, ...old]);
    await start();

    const { workspaces } = await client.call('workspace.list', {});
    expect(workspaces).toHaveLength(WORKSPACES_MAX);

    const names: string[] = [];
    const ids: RecordId[] = [];
    for (let after: RecordId | undefined, pages = 1; ; pages += 1) {
      const page = await client.call('record.list', after === undefined ? {} : { after });
      expect(bytesOf(page)).toBeLessThan(NODE_FRAME_BYTES_MAX);
      names.push(...page.records.map(({ name }) => name));
      ids.push(...page.records.map(({ id }) => id));
      after = page.records.at(-1)?.id;
      if (page.truncated) continue;
      expect(pages).toBeGreaterThan(1);
      break;
    }
    expect(names).toEqual(Array.from({ length: 601 }, (_, index) => `r${index}`));

    const snapshot = await client.call('node.snapshot', {});
    expect(bytesOf(snapshot)).toBeLessThan(NODE_FRAME_BYTES_MAX);
    expect(snapshot.truncated).toBe(true);
    expect(snapshot.workspaces).toEqual(workspaces);
    const shown = snapshot.records.map(({ name }) => name);
    expect(shown).toContain('r0');
    expect(shown).toContain('r600');
    expect(shown).not.toContain('r1');

    // The changes of all of them would not fit either, and nobody could tell what is missing in a part of them.
    const { sequence } = snapshot;
    const rename = (recordId: RecordId) => client.call('record.rename', { recordId, name: 'renamed' });
    for (const id of ids.slice(0, 1)) await rename(id);
    const few = await client.call('node.snapshot', { changedAfter: sequence });
    expect(few).toMatchObject({ changedAfter: sequence, truncated: false, records: [{ name: 'renamed' }] });
    for (const id of ids) await rename(id);
    const many = await client.call('node.snapshot', { changedAfter: sequence });
    expect(many).toMatchObject({ changedAfter: null, truncated: true });
    expect(many.workspaces).toEqual(workspaces);
    expect(bytesOf(many)).toBeLessThan(NODE_FRAME_BYTES_MAX);
  });

  it('leave out the oldest of the sessions that do not fit', async () => {
    const store = new Store(openDatabase(prepareHome(home.path).database));
    store.transact((transaction) => {
      store.begin(transaction, Incarnation.parse(randomHexId()));
      for (let number = 0; number < SESSIONS_MAX; number += 1) {
        const row = newSessionRow({
          id: SessionId.parse(randomHexId()),
          recordId: null,
          generation: 1,
          name: SessionName.parse(`s${number}`),
          provider: 'command',
          transport: 'pty',
          workspaceId: WorkspaceId.parse('w0'),
          directory: longPath(0),
          // Each takes six bytes.
          command: Array.from({ length: 8 }, () => '\u0001'.repeat(500)),
          keeperId: KeeperId.parse(randomHexId()),
          size: null,
          createdAt: 1_000 + number,
          process: null,
        });
        insertSession(transaction, { ...row, status: 'exited', ended_at: 2_000 + number, exit_code: 0 });
      }
    });
    store.close();
    await start();
    const list = await client.call('session.list', { includeEnded: true });
    const snapshot = await client.call('node.snapshot', {});
    for (const { sessions, truncated } of [list, snapshot]) {
      expect(truncated).toBe(true);
      expect(sessions.at(-1)?.name).toBe(`s${SESSIONS_MAX - 1}`);
      expect(sessions.length).toBeLessThan(SESSIONS_MAX);
      expect(sessions[0]?.name).toBe(`s${SESSIONS_MAX - sessions.length}`);
    }
  });

  it('are asked for after a record that there is', async () => {
    await start();
    expect(await failureOf(client.call('record.list', { after: RecordId.parse(randomHexId()) }))).toBe(
      'unknown-session-record',
    );
  });

  it('have no room for one workspace more, by request or by launch, until one goes', async () => {
    fill([]);
    await start();
    const root = join(home.path, 'one-more');
    mkdirSync(root);
    const register = () => client.call('workspace.register', { root });
    expect(await failureOf(register())).toBe('workspaces-exhausted');
    const launch = { kind: 'command' as const, command: ['true'] };
    expect(await failureOf(client.call('session.spawn', { directory: root, launch }))).toBe(
      'workspaces-exhausted',
    );
    await client.call('workspace.unregister', { workspaceId: WorkspaceId.parse('w7') });
    expect(await register()).toMatchObject({ id: 'one-more' });
  });
});

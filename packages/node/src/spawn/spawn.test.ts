import { existsSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi, type MockInstance } from 'vitest';
import {
  CAPABILITIES,
  FailureError,
  IdempotencyKey,
  SESSIONS_MAX,
  SpawnSpec,
  type Capability,
} from '@roost/protocol';
import { canonicalJson } from '../canonical-json.ts';
import { TestHome, failureOf, waitFor } from '../node-for-test.ts';
import { findRecord } from '../records/record-table.ts';
import { waitingPrompts } from '../prompts/waiting-prompts.ts';
import { deleteSession, findSession } from '../sessions/session-table.ts';
import { LaunchBench, runningSessions, workOf, writeProfile, writeProgram } from './launching-for-test.ts';

const key = IdempotencyKey.parse('key');
/** Prints, then waits for input without end. */
const WAITING = "#!/bin/sh\nprintf 'fixture-ready> '\nexec cat\n";

let home: TestHome;
let bench: LaunchBench;

beforeEach(async () => {
  home = new TestHome();
  writeProgram(home, 'claude', WAITING);
  writeProfile(home, 'plain', { provider: 'claude' });
  bench = await LaunchBench.open(home);
});
afterEach(async () => {
  bench.crash();
  await home.remove();
});

async function reopen(options: Parameters<typeof LaunchBench.open>[1] = {}): Promise<void> {
  bench.crash();
  bench = await LaunchBench.open(home, options);
}

async function startKeeper(): Promise<number> {
  const link = await bench.keepers.place();
  link.reserved -= 1;
  const [keeper] = home.keepers;
  if (keeper === undefined) throw new Error('a keeper was started');
  return keeper.pid;
}

const rowOf = (sessionId: string) => findSession(bench.store.sql, sessionId);

async function expectNothingLeft(): Promise<void> {
  await waitFor(() => bench.discarded === 0, 'launches that were given up to be ended');
  expect(runningSessions(home)).toEqual([]);
  expect(bench.counts()).toMatchObject({ sessions: 0, records: 0 });
  await bench.removals.clean();
  expect(bench.store.sql.all('SELECT * FROM removals')).toEqual([]);
}

describe('a launch by spec', () => {
  it('starts one session with a record, and its receipt tells what came of each field', async () => {
    writeProfile(home, 'review', {
      revision: 'review-r7',
      provider: 'claude',
      transport: 'pipe',
      prompt: 'to be cleared',
      arguments: ['--model', 'x'],
    });
    const spec = bench.spec({
      profileId: 'review',
      expectedRevision: 'review-r7',
      name: 'reviewer',
      overrides: {
        transport: { kind: 'set', value: 'pty' },
        size: { kind: 'set', value: { columns: 97, rows: 31 } },
        prompt: { kind: 'clear' },
      },
      requiredCapabilities: ['raw-pty-lifecycle'],
    });
    const receipt = await bench.submit(spec);
    expect(receipt).toMatchObject({
      incarnation: bench.identity.incarnation,
      target: spec.target,
      profileId: 'review',
      profileRevision: 'review-r7',
      name: 'reviewer',
      provider: 'claude',
      transport: 'pty',
      size: { columns: 97, rows: 31 },
      arguments: 2,
      prompt: { present: false, byteLength: 0 },
      provenance: {
        provider: 'profile',
        transport: 'override',
        size: 'override',
        arguments: 'profile',
        prompt: 'cleared',
      },
      deadlineMs: 20_000,
      idempotencyKey: 'key',
      requiredCapabilities: ['raw-pty-lifecycle'],
    });
    expect(rowOf(receipt.session.sessionId)).toMatchObject({
      name: 'reviewer',
      status: 'running',
      generation: 1,
      record_id: receipt.recordId,
      columns: 97,
      rows: 31,
    });
    expect(findRecord(bench.store.sql, receipt.recordId)).toMatchObject({
      name: 'reviewer',
      state: 'live',
      active_session_id: receipt.session.sessionId,
      arguments: '["--model","x"]',
    });
    await expectRunning(home, [receipt.session.sessionId]);
    expect(await bench.result(key)).toEqual({ state: 'accepted', receipt });
  });

  it('keeps the first prompt until the agent takes it, and neither tells it nor puts it into arguments', async () => {
    const prompt = 'a secret prompt';
    const receipt = await bench.submit(bench.spec({ overrides: { prompt: { kind: 'set', value: prompt } } }));
    expect(receipt.prompt).toEqual({ present: true, byteLength: 15 });
    expect(canonicalJson(await bench.result(key))).not.toContain('secret');
    const { sessionId } = receipt.session;
    const { sql } = bench.store;
    expect(waitingPrompts(sql, sessionId)).toMatchObject([{ text: prompt }]);
    const row = rowOf(sessionId);
    const child = bench.keepers.child(row?.keeper_id ?? null, sessionId);
    expect(readFileSync(`/proc/${row?.pid}/cmdline`, 'utf8')).not.toContain('secret');
    expect(JSON.parse(row?.command ?? '')).toEqual(['claude', '--session-id', expect.any(String)]);
    expect(child?.note).not.toContain('secret');
    expect(JSON.stringify(sql.all('SELECT body FROM events'))).not.toContain('secret');
    bench.store.transact((transaction) => deleteSession(transaction, row!));
    expect(waitingPrompts(sql, sessionId)).toEqual([]);
  });

  it('gives the first prompt to an agent without a composer as an argument, and never tells it', async () => {
    writeProgram(home, 'claude', '#!/bin/sh\nprintf "%s\\n" "$@" > "$HOME/given"\nexec cat\n');
    const receipt = await bench.submit(
      bench.spec({
        overrides: {
          arguments: { kind: 'set', value: ['--print'] },
          prompt: { kind: 'set', value: 'a secret prompt' },
        },
      }),
    );
    expect(receipt.prompt).toEqual({ present: true, byteLength: 15 });
    const given = join(home.path, 'given');
    const isGiven = () => existsSync(given) && readFileSync(given, 'utf8').includes('a secret prompt');
    await waitFor(isGiven, 'the prompt to be given');
    expect(canonicalJson(await bench.result(key))).not.toContain('secret');

    const { sessionId } = receipt.session;
    const row = rowOf(sessionId);
    const child = bench.keepers.child(row?.keeper_id ?? null, sessionId);
    const command = ['claude', '--session-id', expect.any(String), '--print', '--', '…'];
    expect(JSON.parse(row?.command ?? '')).toEqual(command);
    expect(JSON.parse(child?.note ?? '')).toMatchObject({ command });
    expect(child?.note).not.toContain('secret');
    const events = bench.store.sql.all('SELECT body FROM events');
    expect(events.length).toBeGreaterThan(0);
    expect(JSON.stringify(events)).not.toContain('secret');
    const files = readdirSync(home.path).filter((name) => name.startsWith('node.db'));
    const stored = files.map((name) => readFileSync(join(home.path, name), 'latin1')).join('');
    expect(stored).toContain('--session-id');
    expect(stored).not.toContain('secret');
  });

  it('is refused for each reason before anything is stored or started', async () => {
    await bench.spawn({ launch: { kind: 'command', command: ['cat'] }, name: 'taken' });
    writeProfile(home, 'shell', { provider: 'shell', revision: 'r1' });
    writeProfile(home, 'codex', { provider: 'codex', revision: 'r1' });
    const before = bench.counts();
    const events = () => bench.store.sql.get('SELECT max(sequence) AS last FROM events');
    bench.profiles.refresh();
    const last = events();
    const withoutOpenProviders = (Object.keys(CAPABILITIES) as Capability[]).filter(
      (one) => one !== 'provider-id.open-v1',
    );
    const refusals: [string, Record<string, unknown>, Capability[]?][] = [
      ['spawn-target-mismatch', { target: { nodeId: '0'.repeat(16), workspaceId: bench.workspaceId } }],
      ['unknown-spawn-profile', { profileId: 'missing' }],
      ['spawn-profile-revision-mismatch', { expectedRevision: 'other' }],
      ['unknown-bundle', { overrides: { bundle: { kind: 'set', value: 'missing' } } }],
      ['unsupported-spawn-capability', { requiredCapabilities: ['semantic-readiness'] }],
      ['unsupported-capability', { profileId: 'shell', expectedRevision: 'r1' }, withoutOpenProviders],
      ['unknown-workspace', { target: { nodeId: bench.identity.nodeId, workspaceId: 'missing' } }],
      ['provider-not-installed', { profileId: 'codex', expectedRevision: 'r1' }],
      ['name-taken', { name: 'taken' }],
    ];
    for (const [code, more, capabilities] of refusals) {
      const who = capabilities === undefined ? {} : { capabilities };
      expect(await failureOf(bench.submit(bench.spec(more), who)), code).toBe(code);
      expect(await bench.result(key)).toEqual({ state: 'unknown' });
    }
    renameSync(workOf(home), `${workOf(home)}-moved`);
    expect(await failureOf(bench.submit(bench.spec()))).toBe('invalid-directory');
    symlinkSync(`${workOf(home)}-moved`, workOf(home));
    expect(await failureOf(bench.submit(bench.spec()))).toBe('invalid-directory');
    rmSync(workOf(home));
    renameSync(`${workOf(home)}-moved`, workOf(home));

    expect(bench.counts()).toEqual(before);
    expect(events()).toEqual(last);
    // None of it has spent the key.
    expect(await bench.submit(bench.spec())).toMatchObject({ idempotencyKey: 'key' });
  });

  it('is refused alike for a profile that the caller may not see and for one that is not there', async () => {
    writeProfile(home, 'hidden', { provider: 'another', revision: 'r1' });
    const capabilities = (Object.keys(CAPABILITIES) as Capability[]).filter(
      (one) => one !== 'provider-id.open-v1',
    );
    const refusalOf = async (more: Record<string, unknown>) => {
      const error: unknown = await bench
        .submit(bench.spec(more), { capabilities })
        .catch((one: unknown) => one);
      return error instanceof FailureError ? error.failure : error;
    };
    const missing = await refusalOf({ profileId: 'missing', expectedRevision: 'r1' });
    expect(missing).toMatchObject({ code: 'unsupported-capability' });
    for (const more of [
      { expectedRevision: 'r1' },
      { expectedRevision: 'guessed' },
      { expectedRevision: 'r1', overrides: { provider: { kind: 'set', value: 'claude' } } },
      { expectedRevision: 'r1', requiredCapabilities: ['semantic-readiness'] },
    ])
      expect(await refusalOf({ profileId: 'hidden', ...more })).toEqual(missing);
  });

  it('is refused in a workspace where another environment lives', async () => {
    const { id } = await bench.spawn({ launch: { kind: 'command', command: ['cat'] } });
    const set = (text: string | null) =>
      bench.store.sql.run('UPDATE sessions SET environment_profile = ? WHERE id = ?', text, id);
    set('{"profileId":"other","revision":"r1"}');
    expect(await failureOf(bench.submit(bench.spec()))).toBe('workspace-busy');
    expect(await failureOf(bench.spawn({ launch: { kind: 'command', command: ['cat'] } }))).toBe(
      'workspace-busy',
    );
    set(null);
    await bench.submit(bench.spec());
  });

  it('is refused when the node holds as many live sessions as it may; ended ones make room', async () => {
    const { id } = await bench.spawn({ launch: { kind: 'command', command: ['cat'] } });
    const row = rowOf(id);
    if (row === null) throw new Error('it has a row');
    const fill = (count: number, status: string) => {
      const names = Object.keys(row).join(', ');
      for (let number = 0; number < count; number += 1) {
        const values = Object.values({
          ...row,
          id: `f${String(number).padStart(15, '0')}`,
          name: `n${number}`,
          status,
        });
        bench.store.sql.run(
          `INSERT INTO sessions (${names}) VALUES (${values.map(() => '?').join(', ')})`,
          ...values,
        );
      }
    };
    fill(SESSIONS_MAX - 1, 'running');
    const before = bench.counts();
    expect(await failureOf(bench.submit(bench.spec()))).toBe('sessions-exhausted');
    expect(bench.counts()).toEqual(before);
    bench.store.sql.run("UPDATE sessions SET status = 'exited' WHERE id = 'f000000000000000'");
    await bench.submit(bench.spec());
    expect(rowOf('f000000000000000')).toBeNull();
    expect(bench.counts().sessions).toBe(SESSIONS_MAX);
    bench.store.sql.run("DELETE FROM sessions WHERE id LIKE 'f%'");
  });

  it('leaves nothing when the keeper cannot start the program, and says so again', async () => {
    writeProgram(home, 'claude', '#!/does/not/exist\n');
    const spec = bench.spec({ overrides: { transport: { kind: 'set', value: 'pipe' } } });
    expect(await failureOf(bench.submit(spec))).toBe('spawn-failed');
    await expectNothingLeft();
    writeProgram(home, 'claude', WAITING);
    expect(await failureOf(bench.submit(spec))).toBe('spawn-failed');
    expect(await bench.result(key)).toMatchObject({ state: 'failed', failure: { code: 'spawn-failed' } });
    expect(bench.counts()).toEqual({ sessions: 0, records: 0, launches: 1 });
  });
});

describe('an accepted launch whose outcome the disk does not take', () => {
  const settling = (sql: string) => sql.startsWith('UPDATE spawn_ledger SET settled_at');
  const settledAt = () => bench.store.sql.all('SELECT settled_at FROM spawn_ledger');
  /** From now on, until it is restored. */
  function refuseOutcomes(): MockInstance {
    const { sql } = bench.store;
    const run = sql.run.bind(sql);
    return vi.spyOn(sql, 'run').mockImplementation((text, ...values) => {
      if (settling(text)) throw new FailureError('storage-full');
      return run(text, ...values);
    });
  }

  it('stands meanwhile, and is stored as soon as the disk takes it', async () => {
    const spec = bench.spec();
    const disk = refuseOutcomes();
    const receipt = await bench.submit(spec);
    expect(settledAt()).toEqual([{ settled_at: null }]);
    expect(await bench.result(key)).toEqual({ state: 'accepted', receipt });
    expect(await bench.submit(spec)).toEqual(receipt);
    disk.mockRestore();
    await waitFor(
      () => bench.store.sql.get('SELECT settled_at FROM spawn_ledger WHERE settled_at > 0') !== undefined,
      'the outcome to be stored',
    );
    expect(await bench.result(key)).toEqual({ state: 'accepted', receipt });
  });

  it('stays accepted when its ended session is removed and the node crashes before', async () => {
    writeProgram(home, 'claude', '#!/bin/sh\n');
    const spec = bench.spec();
    const receipt = await bench.submit(spec);
    const { sessionId } = receipt.session;
    await waitFor(() => rowOf(sessionId)?.status === 'exited', 'the end to be stored');
    bench.store.sql.run('UPDATE spawn_ledger SET settled_at = NULL');
    const row = rowOf(sessionId);
    if (row !== null) bench.store.transact((transaction) => deleteSession(transaction, row));
    await reopen();
    expect(bench.counts().sessions).toBe(0);
    expect(await bench.result(key)).toEqual({ state: 'accepted', receipt });
    expect(await bench.submit(spec)).toEqual(receipt);
  });
});

describe('a plain launch', () => {
  it('keeps its failed session', async () => {
    writeProgram(home, 'broken', '#!/does/not/exist\n');
    const broken = { kind: 'command', command: [join(home.path, 'bin', 'broken')] };
    expect(await failureOf(bench.spawn({ launch: broken, transport: 'pipe' }))).toBe('spawn-failed');
    expect(bench.store.sql.all('SELECT status, end_reason FROM sessions')).toEqual([
      { status: 'failed', end_reason: 'spawn-failed' },
    ]);
  });

  it('has a record only when its provider tells its own sessions', async () => {
    const agent = await bench.spawn({ launch: { kind: 'provider', provider: 'claude', arguments: [] } });
    const shell = await bench.spawn({ launch: { kind: 'provider', provider: 'shell', arguments: [] } });
    const command = await bench.spawn({ launch: { kind: 'command', command: ['cat'] } });
    expect([shell.recordId, command.recordId]).toEqual([null, null]);
    expect(findRecord(bench.store.sql, agent.recordId ?? '')).toMatchObject({ active_session_id: agent.id });
    expect(bench.counts().records).toBe(1);
  });
});

describe('an idempotency key', () => {
  it('answers the first receipt, also after the profile changed and after a restart', async () => {
    const spec = bench.spec();
    const receipt = await bench.submit(spec);
    const record = findRecord(bench.store.sql, receipt.recordId);
    writeProfile(home, 'plain', { provider: 'claude', description: 'another' });
    expect(await bench.submit(spec)).toEqual(receipt);
    expect(await failureOf(bench.submit({ ...spec, idempotencyKey: IdempotencyKey.parse('new') }))).toBe(
      'spawn-profile-revision-mismatch',
    );
    await reopen();
    expect(await bench.submit(spec)).toEqual(receipt);
    expect(await bench.result(key)).toEqual({ state: 'accepted', receipt });
    expect(findRecord(bench.store.sql, receipt.recordId)).toEqual(record);
    expect(bench.counts()).toEqual({ sessions: 1, records: 1, launches: 1 });
    await expectRunning(home, [receipt.session.sessionId]);
  });

  it('is refused for a launch that differs in any field, not for one that is written differently', async () => {
    const given = {
      target: { nodeId: bench.identity.nodeId, workspaceId: bench.workspaceId },
      profileId: 'plain',
      expectedRevision: bench.spec().expectedRevision,
      deadlineMs: 20_000,
      idempotencyKey: 'key',
    };
    const receipt = await bench.submit(SpawnSpec.parse(given));
    const reversed = Object.fromEntries(Object.entries(given).reverse());
    const explicit = {
      ...given,
      overrides: { provider: { kind: 'inherit' } },
      name: null,
      requiredCapabilities: [],
    };
    for (const same of [reversed, explicit])
      expect(await bench.submit(SpawnSpec.parse(same))).toEqual(receipt);
    const others = [
      { target: { ...given.target, workspaceId: 'other' } },
      { target: { ...given.target, worktreeId: 'other' } },
      { profileId: 'other' },
      { expectedRevision: 'other' },
      { deadlineMs: 20_001 },
      { name: 'other' },
      { requiredCapabilities: ['raw-pty-lifecycle'] },
      { overrides: { size: { kind: 'set', value: { columns: 98, rows: 32 } } } },
      { overrides: { prompt: { kind: 'clear' } } },
      { overrides: { provider: { kind: 'set', value: 'claude' } } },
    ];
    const before = bench.counts();
    for (const other of others) {
      const code = await failureOf(bench.submit(SpawnSpec.parse({ ...given, ...other })));
      expect(code, JSON.stringify(other)).toBe('spawn-idempotency-conflict');
    }
    expect(bench.counts()).toEqual(before);
  });

  it('starts one session for all who ask at once, and refuses those who ask for something else meanwhile', async () => {
    const spec = bench.spec();
    const asked = Array.from({ length: 8 }, () => bench.submit(spec));
    expect(await bench.result(key)).toEqual({ state: 'pending' });
    expect(await failureOf(bench.submit({ ...spec, deadlineMs: 1_000 }))).toBe('spawn-idempotency-conflict');
    const receipts = await Promise.all(asked);
    expect(new Set(receipts.map((one) => canonicalJson(one))).size).toBe(1);
    expect(bench.counts()).toEqual({ sessions: 1, records: 1, launches: 1 });
  });

  it('is remembered for each client by itself: the oldest sure outcomes make room, fresh ones refuse', async () => {
    let now = Date.now();
    await reopen({ now: () => now });
    const settled = (owner: string, number: number, at: number) =>
      bench.store.sql.run(
        `INSERT INTO spawn_ledger (key, owner, digest, failure, accepted_at, settled_at) VALUES (?, ?, 'd', '{"code":"spawn-failed","message":""}', ?, ?)`,
        `${owner}-${number}`,
        owner,
        at + number,
        at + number,
      );
    for (let number = 0; number < 256; number += 1) settled('greedy', number, now);
    const launches = bench.counts().launches;
    expect(await failureOf(bench.submit(bench.spec(), { client: 'greedy' }))).toBe(
      'spawn-idempotency-capacity',
    );
    expect(bench.counts()).toEqual({ sessions: 0, records: 0, launches });
    await bench.submit(bench.spec({ idempotencyKey: 'modest' }), { client: 'modest' });
    now += 16 * 60_000;
    await bench.submit(bench.spec(), { client: 'greedy' });
    expect(bench.counts().launches).toBe(launches + 1);
    expect(await bench.result(IdempotencyKey.parse('greedy-0'))).toEqual({ state: 'unknown' });
    expect(await bench.result(IdempotencyKey.parse('greedy-1'))).toMatchObject({ state: 'failed' });
    now += 24 * 60 * 60_000 + 1;
    bench.ledger.prune();
    expect(bench.counts().launches).toBe(0);
  });
});

describe('a deadline', () => {
  it('of one millisecond leaves nothing, and is told to whoever asks again', async () => {
    await startKeeper();
    const spec = bench.spec({ deadlineMs: 1 });
    expect(await failureOf(bench.submit(spec))).toBe('spawn-deadline-exceeded');
    await expectNothingLeft();
    expect(await failureOf(bench.submit(spec))).toBe('spawn-deadline-exceeded');
    expect(await bench.result(key)).toMatchObject({ state: 'failed' });
    expect(bench.counts().launches).toBe(1);
  });

  it('of any few milliseconds gives a session that runs, or nothing', async () => {
    await startKeeper();
    const accepted: string[] = [];
    for (let deadlineMs = 1; deadlineMs <= 40; deadlineMs += 1) {
      const spec = bench.spec({ deadlineMs, idempotencyKey: `of-${deadlineMs}` });
      const { sessionId } = await bench.submit(spec).then(
        ({ session }) => session,
        () => ({ sessionId: null }),
      );
      const result = await bench.result(spec.idempotencyKey);
      expect(result.state).toBe(sessionId === null ? 'failed' : 'accepted');
      if (sessionId !== null) accepted.push(sessionId);
    }
    await waitFor(() => bench.discarded === 0, 'launches that were given up to be ended');
    await expectRunning(home, accepted);
    expect(bench.counts()).toEqual({ sessions: accepted.length, records: accepted.length, launches: 40 });
  });

  it('covers the start of the first keeper', async () => {
    expect(await failureOf(bench.submit(bench.spec({ deadlineMs: 2 })))).toBe('spawn-deadline-exceeded');
    await expectNothingLeft();
    expect(await bench.submit(bench.spec({ idempotencyKey: 'next' }))).toMatchObject({ name: 'claude' });
  });

  it.each(['pty', 'pipe'])(
    'passes while the keeper is stopped: nothing shows, and nothing runs when it goes on (%s)',
    async (transport) => {
      const pid = await startKeeper();
      process.kill(pid, 'SIGSTOP');
      const spec = bench.spec({
        // Enough to come to the keeper on a busy machine.
        deadlineMs: 1_000,
        overrides: { transport: { kind: 'set', value: transport } },
      });
      const begun = performance.now();
      expect(await failureOf(bench.submit(spec))).toBe('spawn-deadline-exceeded');
      expect(performance.now() - begun).toBeLessThan(8_000);
      expect(bench.counts()).toEqual({ sessions: 0, records: 0, launches: 1 });
      expect(bench.discarded).toBe(1);
      process.kill(pid, 'SIGCONT');
      await expectNothingLeft();
      expect(await failureOf(bench.submit(spec))).toBe('spawn-deadline-exceeded');
    },
  );

  it('that passed is kept by the next start of the node', async () => {
    const pid = await startKeeper();
    process.kill(pid, 'SIGSTOP');
    const spec = bench.spec({ deadlineMs: 200 });
    expect(await failureOf(bench.submit(spec))).toBe('spawn-deadline-exceeded');
    const opening = reopen();
    process.kill(pid, 'SIGCONT');
    await opening;
    await expectNothingLeft();
    expect(await failureOf(bench.submit(spec))).toBe('spawn-deadline-exceeded');
  });

  it('ends what runs even when its keeper is killed', async () => {
    writeProgram(home, 'claude', "#!/bin/sh\ntrap '' HUP TERM\nsleep 0.05\nwhile :; do sleep 1; done\n");
    const pid = await startKeeper();
    process.kill(pid, 'SIGSTOP');
    expect(await failureOf(bench.submit(bench.spec({ deadlineMs: 200 })))).toBe('spawn-deadline-exceeded');
    process.kill(pid, 'SIGKILL');
    await expectNothingLeft();
  });
});

describe('a crash in the middle of a launch', () => {
  /** Stores the launch while the keeper is stopped, and takes the node away. */
  async function crashAfterIntent(
    more: Record<string, unknown> = {},
  ): Promise<{ pid: number; spec: SpawnSpec }> {
    const pid = await startKeeper();
    process.kill(pid, 'SIGSTOP');
    const spec = bench.spec(more);
    bench.submit(spec).catch(() => undefined);
    await waitFor(() => bench.counts().launches === 1, 'the launch to be stored');
    bench.crash();
    return { pid, spec };
  }

  it('is accepted when the keeper has it', async () => {
    const { pid, spec } = await crashAfterIntent();
    process.kill(pid, 'SIGCONT');
    await waitFor(() => runningSessions(home).length === 1, 'the program to run');
    bench = await LaunchBench.open(home);
    const receipt = await bench.submit(spec);
    await expectRunning(home, [receipt.session.sessionId]);
    expect(rowOf(receipt.session.sessionId)).toMatchObject({ status: 'running' });
    expect(await bench.result(key)).toEqual({ state: 'accepted', receipt });
    expect(bench.counts()).toEqual({ sessions: 1, records: 1, launches: 1 });
  });

  it('is a failure without session and record when the keeper died before it read the request', async () => {
    const { pid, spec } = await crashAfterIntent();
    process.kill(pid, 'SIGKILL');
    await waitFor(() => home.keepers.length === 0, 'the keeper to be gone');
    bench = await LaunchBench.open(home);
    expect(await failureOf(bench.submit(spec))).toBe('spawn-failed');
    await expectNothingLeft();
    expect(await bench.result(key)).toMatchObject({ state: 'failed' });
  });

  it('is decided as soon as the keeper tells; who asks meanwhile waits for that', async () => {
    const { pid, spec } = await crashAfterIntent();
    bench = await LaunchBench.open(home);
    expect(await bench.result(key)).toEqual({ state: 'pending' });
    const answer = bench.submit(spec);
    process.kill(pid, 'SIGCONT');
    const receipt = await answer;
    await expectRunning(home, [receipt.session.sessionId]);
  }, 60_000);

  it.each([20_000, 2_000])(
    'is decided although the disk cannot be read at first (%d)',
    async (deadlineMs) => {
      const { pid, spec } = await crashAfterIntent({ deadlineMs });
      bench = await LaunchBench.open(home);
      const answer = bench.submit(spec);
      const { sql } = bench.store;
      const get = sql.get.bind(sql);
      let refusals = 0;
      vi.spyOn(sql, 'get').mockImplementation((text, ...values) => {
        if (refusals > 0 || !text.startsWith('SELECT * FROM spawn_ledger')) return get(text, ...values);
        refusals += 1;
        throw new FailureError('storage-failed');
      });
      if (deadlineMs < 20_000) {
        expect(await failureOf(answer)).toBe('spawn-deadline-exceeded');
        process.kill(pid, 'SIGCONT');
      } else {
        process.kill(pid, 'SIGCONT');
        expect(await answer).toMatchObject({ provider: 'claude' });
      }
      expect(refusals).toBe(1);
    },
    60_000,
  );

  it('still ends at its deadline', async () => {
    const { pid, spec } = await crashAfterIntent({ deadlineMs: 2_000 });
    bench = await LaunchBench.open(home);
    expect(await failureOf(bench.submit(spec))).toBe('spawn-deadline-exceeded');
    expect(bench.counts()).toEqual({ sessions: 0, records: 0, launches: 1 });
    process.kill(pid, 'SIGCONT');
    await expectNothingLeft();
  }, 60_000);
});

it('a keeper that is lost while it is asked does not end the launch: its next answer decides', async () => {
  const pid = await startKeeper();
  const link = await bench.keepers.place();
  link.reserved -= 1;
  process.kill(pid, 'SIGSTOP');
  const submitted = bench.submit(bench.spec());
  await waitFor(() => bench.counts().launches === 1, 'the launch to be stored');
  link.reconnect();
  process.kill(pid, 'SIGCONT');
  const receipt = await submitted;
  await expectRunning(home, [receipt.session.sessionId]);
});

it('a keeper that dies while it is asked fails the launch, and nothing is left of it', async () => {
  writeProgram(home, 'claude', "#!/bin/sh\ntrap '' HUP TERM\nwhile :; do sleep 1; done\n");
  const pid = await startKeeper();
  process.kill(pid, 'SIGSTOP');
  const submitted = failureOf(bench.submit(bench.spec()));
  await waitFor(() => bench.counts().launches === 1, 'the launch to be stored');
  process.kill(pid, 'SIGKILL');
  expect(await submitted).toBe('spawn-failed');
  await expectNothingLeft();
  expect(await bench.result(key)).toMatchObject({ state: 'failed', failure: { code: 'spawn-failed' } });
});

/** These sessions and no others. A process that begins shows its marker a moment after it is told to run. */
async function expectRunning(home: TestHome, sessionIds: readonly string[]): Promise<void> {
  const expected = JSON.stringify([...sessionIds].sort());
  await waitFor(() => JSON.stringify(runningSessions(home)) === expected, `${expected} and no other to run`);
}

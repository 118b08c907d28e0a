import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  addressOf,
  type EventBody,
  type FailureError,
  type Session,
  type SessionRecord,
} from '@roost/protocol';
import type { Daemon } from '../daemon.ts';
import { failureOf, startTestNode, TestClient, TestHome, waitFor } from '../node-for-test.ts';

/** An agent that writes its arguments down and then waits, or does what its prompt says. */
const AGENT = `#!/bin/sh
case "$1 $0" in --version*codex) exec echo 0.171.0 ;; --version*) exec echo 2.1.197 ;; esac
printf '%s\\n' "$*" >> "$HOME/launches"
case "$*" in *refused*) exit 1 ;; esac
echo ready
exec cat
`;

describe('records on a real node', () => {
  let home: TestHome;
  let daemon: Daemon;
  let client: TestClient;
  let work: string;

  const start = async () => {
    daemon = await startTestNode(home, {
      environment: { PATH: `${join(home.path, 'bin')}:${process.env.PATH}`, HOME: home.path },
    });
    client = await TestClient.connect(daemon.socket);
  };
  const stopNode = async () => {
    client.close();
    await daemon.stop();
  };
  const spawn = (provider = 'claude', name = 'reviewer', directory = work) =>
    client.call('session.spawn', {
      directory,
      name,
      launch: { kind: 'provider', provider, arguments: provider === 'claude' ? ['--model', 'opus'] : [] },
    });
  const stop = (session: Session) => client.call('session.stop', { ...addressOf(session), force: true });
  const recordOf = async ({ recordId }: Session) =>
    (await client.call('record.list', {})).records.find((one) => one.id === recordId)!;
  /** Without what makes it report. */
  const launches = () => {
    const file = join(home.path, 'launches');
    const written = existsSync(file) ? readFileSync(file, 'utf8') : '';
    return written
      .replaceAll(/--settings \S+ /g, '')
      .split('\n')
      .slice(0, -1);
  };
  const bodies = async (after: number) =>
    (await client.call('events.read', { after })).events.map(({ body }) => body);
  const last = async () => (await client.call('node.status', {})).lastEventSequence;
  const kinds = (list: EventBody[]) => list.map(({ kind }) => kind);

  beforeEach(async () => {
    home = new TestHome();
    work = join(home.path, 'work');
    mkdirSync(work);
    mkdirSync(join(home.path, 'bin'));
    for (const name of ['claude', 'codex']) {
      writeFileSync(join(home.path, 'bin', name), AGENT);
      chmodSync(join(home.path, 'bin', name), 0o755);
    }
    await start();
  });
  afterEach(async () => {
    await stopNode();
    await home.remove();
  });

  it('a session whose own id is assigned has a live record; when it ends, the record can be resumed', async () => {
    const session = await spawn();
    const record = await recordOf(session);
    expect(record).toMatchObject({
      name: 'reviewer',
      provider: 'claude',
      state: 'live',
      generation: 1,
      activeSession: addressOf(session),
      providerSession: { key: 'session-id', transcriptPath: null },
      lastError: null,
    });
    await waitFor(() => launches()[0]!.includes(record.providerSession!.id), 'the id to be assigned');
    await stop(session);
    expect(await recordOf(session)).toMatchObject({ state: 'dormant', activeSession: null });
  });

  it('a plain session of something that nobody can resume has no record', async () => {
    const shell = await client.call('session.spawn', {
      directory: work,
      launch: { kind: 'command', command: ['cat'] },
    });
    expect(shell.recordId).toBeNull();
    expect((await client.call('record.list', {})).records).toEqual([]);
    expect(await failureOf(client.call('session.resume', addressOf(shell)))).toBe('session-running');
    await stop(shell);
    expect(await failureOf(client.call('session.resume', addressOf(shell)))).toBe(
      'session-record-not-resumable',
    );
  });

  it('resumes the session of before: next run, same record, same arguments, and the address of before is stale', async () => {
    const first = await spawn();
    const { providerSession } = await recordOf(first);
    await waitFor(() => launches().length === 1, 'the first launch');
    await stop(first);
    const { session, record } = await client.call('record.resume', { recordId: first.recordId! });
    expect(session).toMatchObject({
      recordId: first.recordId,
      generation: 2,
      name: 'reviewer',
      status: 'running',
    });
    expect(session.id).not.toBe(first.id);
    expect(record).toMatchObject({ state: 'live', generation: 2, activeSession: addressOf(session) });
    await waitFor(() => launches().length === 2, 'the second launch');
    expect(launches()[1]).toBe(`--resume ${providerSession!.id} --model opus`);
    expect(await failureOf(client.call('session.interrupt', addressOf(first)))).toBe('stale-generation');
    // It can still be removed, and its record stays.
    await client.call('session.remove', addressOf(first));
    expect(await recordOf(session)).toMatchObject({ state: 'live' });
  });

  it('of two that resume at once one wins, and the other is told where it runs', async () => {
    const first = await spawn();
    await waitFor(() => launches().length === 1, 'the first launch');
    await stop(first);
    const resume = () =>
      client.call('record.resume', { recordId: first.recordId! }).then(
        ({ session }) => session,
        (error: unknown) => (error as FailureError).failure,
      );
    const [one, two] = await Promise.all([resume(), resume()]);
    const won = [one, two].find((each) => 'id' in each);
    const [lost] = [one, two].filter((each) => 'code' in each);
    expect(lost).toMatchObject({ code: 'session-record-busy', details: { sessionId: won?.id } });
    await waitFor(() => launches().length === 2, 'the launch of the winner');
    expect((await client.call('session.list', {})).sessions).toHaveLength(1);
  });

  it('stays live across a restart of the node, and rests when its process was killed meanwhile', async () => {
    const session = await spawn();
    await stopNode();
    await start();
    expect(await recordOf(session)).toMatchObject({ state: 'live', activeSession: addressOf(session) });
    await stopNode();
    process.kill(session.pid!, 'SIGKILL');
    await start();
    await waitFor(async () => (await recordOf(session)).state === 'dormant', 'the record to rest');
    expect(await recordOf(session)).toMatchObject({ activeSession: null, lastError: null });
  });

  it('comes back with its running session when the database is lost, and can be resumed after', async () => {
    const session = await spawn();
    const before = await recordOf(session);
    await stopNode();
    for (const suffix of ['', '-wal', '-shm']) rmSync(join(home.path, `node.db${suffix}`), { force: true });
    await start();
    expect(await recordOf(session)).toEqual({ ...before, updatedAt: expect.any(String) as string });
    await waitFor(() => launches().length === 1, 'the first launch');
    await stop(session);
    await client.call('record.resume', { recordId: before.id });
    await waitFor(() => launches().length === 2, 'the resume');
    expect(launches()[1]).toBe(`--resume ${before.providerSession!.id} --model opus`);
  });

  it('is renamed with its live session, and never to the name of another live one', async () => {
    const session = await spawn();
    await spawn('shell', 'other');
    const recordId = session.recordId!;
    expect(await failureOf(client.call('record.rename', { recordId, name: 'other' }))).toBe('name-taken');
    const renamed = await client.call('record.rename', { recordId, name: 'second' });
    expect(renamed.name).toBe('second');
    expect(await client.call('session.resolve', { selector: 'second' })).toMatchObject({ id: session.id });
    await stop(session);
    expect(await client.call('record.rename', { recordId, name: 'other' })).toMatchObject({ name: 'other' });
    expect(await client.call('record.resolve', { selector: 'other' })).toMatchObject({ id: recordId });
  });

  it('is bound to a task by whoever knows the present revision', async () => {
    const { recordId } = await spawn();
    const set = (expectedRevision: number, target: object) =>
      client.call('record.setTask', {
        recordId: recordId!,
        expectedRevision,
        target: target as { kind: 'new' },
      });
    expect((await set(0, { kind: 'clear' })).taskBinding).toBeNull();
    const first = await set(0, { kind: 'new' });
    expect(first.taskBinding).toMatchObject({
      revision: 1,
      taskId: expect.stringMatching(/^task-[0-9a-f]{24}$/),
    });
    const before = await last();
    const { taskId } = first.taskBinding!;
    expect(await set(1, { kind: 'existing', taskId })).toEqual(first);
    expect(await last()).toBe(before);
    expect(await failureOf(set(0, { kind: 'existing', taskId }))).toBe('session-record-conflict');
    const other = `task-${'f'.repeat(24)}`;
    expect((await set(1, { kind: 'existing', taskId: other })).taskBinding).toMatchObject({
      revision: 2,
      taskId: other,
    });
    const cleared = await set(2, { kind: 'clear' });
    expect(cleared.taskBinding).toMatchObject({ revision: 3, taskId: null, changedAt: cleared.updatedAt });
    await stopNode();
    await start();
    expect((await recordOf({ recordId } as Session)).taskBinding).toEqual(cleared.taskBinding);
  });

  it('is made of a session that exists at its provider, once, and resumed as any other', async () => {
    const { id: workspaceId } = await client.call('workspace.register', { root: work });
    const ask = (more: object = {}) =>
      client.call('record.index', {
        workspaceId,
        provider: 'claude',
        providerSession: { key: 'session-id', id: 'provider-session-42' },
        name: 'found',
        ...more,
      });
    const record = await ask();
    expect(record).toMatchObject({ state: 'dormant', transport: 'pty', generation: 0, activeSession: null });
    const before = await last();
    expect(await ask({ name: 'again' })).toEqual(record);
    expect(await last()).toBe(before);
    expect(await failureOf(ask({ provider: 'codex' }))).toBe('session-record-conflict');
    const path = { key: 'session-id', id: 'provider-session-43', transcriptPath: '/etc/passwd' };
    expect(await failureOf(ask({ providerSession: path }))).toBe('invalid-request');
    expect(await failureOf(ask({ provider: 'nobody' }))).toBe('unknown-provider');
    const { session } = await client.call('record.resume', { recordId: record.id });
    expect(session).toMatchObject({ generation: 1, name: 'found' });
    await waitFor(() => launches()[0] === '--resume provider-session-42', 'the launch');
  });

  it('says so when its provider does not run the session on, and leaves no run', async () => {
    const { id: workspaceId } = await client.call('workspace.register', { root: work });
    const { id: recordId } = await client.call('record.index', {
      workspaceId,
      provider: 'claude',
      providerSession: { key: 'session-id', id: 'refused-1' },
      name: 'found',
    });
    const { session } = await client.call('record.resume', { recordId });
    expect(await client.call('session.wait', { sessionId: session.id, waitMs: 20_000 })).toMatchObject({
      status: 'exited',
      exitCode: 1,
    });
    await waitFor(async () => (await recordOf(session)).activeSession === null, 'the end to be stored');
    expect(await recordOf(session)).toMatchObject({
      state: 'dormant',
      lastError: 'provider-resume-rejected',
    });
    expect((await client.call('session.list', {})).sessions).toEqual([]);
    expect(
      await failureOf(
        client.call('record.index', {
          workspaceId,
          provider: 'shell',
          providerSession: { key: 'session-id', id: 'x' },
          name: 'x',
        }),
      ),
    ).toBe('invalid-request');
  });

  it('is forgotten with its ended sessions, never while a run lives', async () => {
    const session = await spawn();
    const recordId = session.recordId!;
    expect(await failureOf(client.call('record.forget', { recordId }))).toBe('session-record-busy');
    await stop(session);
    const before = await last();
    expect(await client.call('record.forget', { recordId })).toEqual({ recordId });
    expect(kinds(await bodies(before))).toEqual(['session-removed', 'record-removed']);
    expect(await failureOf(client.call('record.forget', { recordId }))).toBe('unknown-session-record');
    expect((await client.call('session.list', { includeEnded: true })).sessions).toEqual([]);
  });

  it('is resumed in its own directory or not at all', async () => {
    const session = await spawn();
    const recordId = session.recordId!;
    await stop(session);
    rmSync(work, { recursive: true });
    expect(await failureOf(client.call('record.resume', { recordId }))).toBe('invalid-directory');
    mkdirSync(join(home.path, 'elsewhere'));
    symlinkSync(join(home.path, 'elsewhere'), work);
    expect(await failureOf(client.call('record.resume', { recordId }))).toBe('session-record-conflict');
    expect(await recordOf(session)).toMatchObject({ state: 'dormant' });
  });

  it('cannot be resumed without its workspace, and can again when that very directory is back', async () => {
    const session = await spawn();
    const { workspaceId } = session;
    await stop(session);
    await client.call('workspace.unregister', { workspaceId });
    expect(await recordOf(session)).toMatchObject({
      state: 'unavailable',
      lastError: 'workspace-unavailable',
    });
    expect(await failureOf(client.call('record.resume', { recordId: session.recordId! }))).toBe(
      'unknown-workspace',
    );
    expect(await failureOf(client.call('workspace.register', { root: '/', workspaceId }))).toBe(
      'session-record-conflict',
    );
    await client.call('workspace.register', { root: work });
    expect(await recordOf(session)).toMatchObject({ state: 'dormant', lastError: null, workspaceId });
  });

  describe('a session that tells its own id', () => {
    const report = (session: Session, id: string, transcriptPath: string | null = null) =>
      client.call('session.reportIdentity', {
        ...addressOf(session),
        providerSession: { key: 'session-id', id, transcriptPath },
      });
    const indexed = async (id: string, name = 'old'): Promise<SessionRecord> => {
      const { workspaces } = await client.call('workspace.list', {});
      return client.call('record.index', {
        workspaceId: workspaces[0]!.id,
        provider: 'codex',
        providerSession: { key: 'session-id', id },
        name,
      });
    };

    it('gets a record when it has none, and the next launch resumes it', async () => {
      const session = await spawn('codex', 'coder');
      const record = await report(session, 'thread-1', '/t');
      expect(record).toMatchObject({ state: 'live', providerSession: { id: 'thread-1' } });
      const now = await client.call('session.resolve', { selector: 'coder' });
      expect(now.recordId).toBe(record.id);
      await waitFor(() => launches().length === 1, 'the first launch');
      await stop(now);
      await client.call('record.resume', { recordId: record.id });
      await waitFor(() => launches().length === 2, 'the resume');
      expect(launches()[1]).toContain('resume thread-1');
    });

    it('joins the record that has that session already: the old one goes on, the new one is gone', async () => {
      const session = await spawn('codex', 'coder');
      const old = await indexed('thread-1');
      const record = await report(session, 'thread-1');
      expect(record).toMatchObject({
        id: old.id,
        name: 'old',
        state: 'live',
        generation: 1,
        activeSession: { sessionId: session.id },
      });
      expect((await client.call('record.list', {})).records).toHaveLength(1);
      expect(await client.call('session.resolve', { selector: 'old' })).toMatchObject({
        id: session.id,
        recordId: old.id,
      });
    });

    it('never joins a record of another workspace, nor one that runs', async () => {
      const claudes = await spawn('claude', 'one');
      const { id: own } = (await recordOf(claudes)).providerSession!;
      mkdirSync(join(home.path, 'work2'));
      const elsewhere = await spawn('claude', 'two', join(home.path, 'work2'));
      await stop(claudes);
      expect(await report(elsewhere, own)).toMatchObject({
        id: elsewhere.recordId,
        state: 'unavailable',
        lastError: 'provider-session-scope-conflict',
        activeSession: { sessionId: elsewhere.id },
      });
      const again = await client.call('session.resume', addressOf(claudes));
      const beside = await spawn('claude', 'three');
      expect(await report(beside, own)).toMatchObject({
        id: beside.recordId,
        state: 'unavailable',
        lastError: 'provider-session-live-conflict',
      });
      expect(await recordOf(again)).toMatchObject({ state: 'live' });
    });

    it('is not believed where the provider cannot tell', async () => {
      const session = await spawn('shell', 'sh');
      expect(await failureOf(report(session, 'thread-1'))).toBe('unknown-session-record');
      expect((await client.call('record.list', {})).records).toEqual([]);
    });
  });

  describe('prompts', () => {
    it('are given to agents as one paste, and refused where none is known to arrive', async () => {
      const session = await spawn();
      const screen = async () =>
        (await client.call('session.readScreen', { sessionId: session.id })).lines.join('\n');
      await waitFor(async () => (await screen()).includes('ready'), 'the agent');
      await client.call('session.paste', { ...addressOf(session), text: 'hello there' });
      await waitFor(async () => (await screen()).includes('hello there'), 'the text');
      const shell = await spawn('shell', 'sh');
      const before = await last();
      for (const verb of ['session.prompt', 'session.paste'] as const)
        expect(await failureOf(client.call(verb, { ...addressOf(shell), text: 'x' }))).toBe(
          'prompt-unsupported',
        );
      expect(await last()).toBe(before);
    });

    it('keys and bytes reach the terminal as they are, within their bound', async () => {
      const session = await client.call('session.spawn', {
        directory: work,
        launch: { kind: 'command', command: ['sh', '-c', 'stty raw -echo; echo up; head -c 7 | od -An -c'] },
      });
      const screen = async () =>
        (await client.call('session.readScreen', { sessionId: session.id })).lines.join('\n');
      await waitFor(async () => (await screen()).includes('up'), 'the program');
      await client.call('session.sendKey', { ...addressOf(session), key: 'up' });
      const send = (bytes: string | Buffer) =>
        client.call('session.sendBytes', {
          ...addressOf(session),
          base64: Buffer.from(bytes).toString('base64'),
        });
      expect(await failureOf(send(''))).toBe('invalid-request');
      expect(await failureOf(send('x'.repeat(65)))).toBe('invalid-request');
      expect(await failureOf(send(Buffer.from([0xff])))).toBe('invalid-request');
      await send('ab\x01z');
      await waitFor(async () => /033\s+\[\s+A\s+a\s+b\s+001\s+z/.test(await screen()), 'the bytes');
    });
  });
});

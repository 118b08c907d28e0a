import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  NodeEvent,
  NodeSnapshot,
  NodeStatus,
  Session,
  SessionRecord,
  SpawnProfileSummary,
  SpawnReceipt,
} from '@roost/protocol';
import { FAKE_SELECTION, FakeNode } from '../../packages/client/src/testing/fake-node.ts';
import { CLI, RoostHome, type Ran } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';

/** For what neither minds the sessions of other tests nor changes what they see. */
let shared: RoostHome;
beforeAll(() => void (shared = stubbedHome()));
afterAll(() => shared[Symbol.asyncDispose]());

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** Draws the composer of Claude Code, and shows how it was called and what it is given. */
const COMPOSING = `#!/bin/bash
[ "$1" = --version ] && exec echo 2.9.9
[ "$1" = --settings ] && shift 2
stty -echo
called="called with $*"
rule=$(printf '─%.0s' {1..80})
draw() { printf '\\033[2J\\033[H%s\\r\\n%s\\r\\n%s\\r\\n❯ \\r\\n%s\\r\\n  ? for shortcuts' "$called" "$1" "$rule" "$rule"; }
draw ready
while read -r line; do draw "got $line"; done
`;

const becomesReady = (home: RoostHome, name: string) =>
  waitFor('its composer', async () => (await home.session(name)).activity?.state === 'ready');

/** A Roost with a `claude` that says how it was called and then repeats what it reads, and with two profiles. */
function stubbedHome(): RoostHome {
  const home = new RoostHome();
  mkdirSync(join(home.root, 'programs'));
  writeClaude(
    home,
    '#!/bin/bash\n[ "$1" = --version ] && exec echo 2.9.9\n[ "$1" = --settings ] && shift 2\necho "called with $*"\nexec cat\n',
  );
  home.environment.PATH = `${join(home.root, 'programs')}:${home.environment.PATH ?? ''}`;
  mkdirSync(join(home.home, 'profiles/spawn'), { recursive: true, mode: 0o700 });
  chmodSync(home.home, 0o700);
  writeProfile(home, 'fix', {
    provider: 'claude',
    description: 'mends things',
    arguments: ['--model', 'opus'],
  });
  writeProfile(home, 'plain', { provider: 'shell', revision: 'r1' });
  return home;
}

function writeClaude(home: RoostHome, script: string): void {
  writeFileSync(join(home.root, 'programs', 'claude'), script, { mode: 0o755 });
}

function writeProfile(home: RoostHome, id: string, content: unknown): void {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  writeFileSync(join(home.home, 'profiles/spawn', `${id}.json`), text);
}

function refusal(code: string, hint = /./) {
  const sentence = new RegExp(`^(\\[roost\\] .*\\n)*roost: ${code}: .*\\n {2}.*${hint.source}`);
  return { code: 1, stdout: '', stderr: expect.stringMatching(sentence) };
}

const misuse = { code: 2, stdout: '', stderr: expect.stringMatching(/^roost: wrong-usage: /) };

/** A command that goes on until it is stopped, once it has printed its first line. */
async function started(
  home: RoostHome,
  args: readonly string[],
): Promise<{ child: ChildProcess; output: () => string; ended: Promise<Ran> }> {
  const child = spawn(process.execPath, [CLI, ...args], { cwd: home.work, env: home.environment });
  children.push(child);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = new Promise<Ran>((resolve) => {
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  await waitFor(`${args.join(' ')} to begin`, () => stdout.includes('\n'), { state: () => stderr });
  return { child, output: () => stdout, ended };
}

describe('status', () => {
  test('tells what the node is and, as JSON, its snapshot, too', async () => {
    await using home = stubbedHome();
    await home.ok(['run', '--detach', '--profile', 'fix', '--name', 'one']);
    const status = await home.json<NodeStatus & { snapshot: unknown }>(['status']);
    expect(NodeStatus.parse(status).sessions.live).toBe(1);
    const snapshot = NodeSnapshot.parse(status.snapshot);
    expect(snapshot.records.map(({ name }) => name)).toEqual(['one']);
    expect(snapshot.sequence).toBeGreaterThan(0);
    const text = await home.ok(['status']);
    expect(text).toMatch(/^load +\d+\.\d\d on \d+ processors?$/m);
    expect(text).toMatch(/^records {5}1 live$/m);
    expect(text).toMatch(/^controller {2}nobody$/m);
    expect(text).toMatch(/^connections 1 of 16$/m);
    expect(await home.roost(['status', 'me'])).toEqual(misuse);
    expect(await home.roost(['status', '--yaml'])).toEqual(misuse);
  });
});

describe('run --profile', () => {
  test('twice with one key is one session; with other words under that key a refusal', async () => {
    await using home = stubbedHome();
    const words = ['run', '--profile', 'fix', '--idempotency-key', 'once', '--name', 'one'];
    const first = SpawnReceipt.parse(await home.json(words));
    // Another revision: what happened is answered as it happened.
    writeProfile(home, 'fix', { provider: 'claude' });
    expect(SpawnReceipt.parse(await home.json(words))).toEqual(first);
    expect(await home.ok([...words, '--detach'])).toBe(`one ${first.session.sessionId}\n`);
    expect(await home.sessions()).toHaveLength(1);
    expect(await home.roost([...words, '--set', 'size=90x30'])).toEqual(
      refusal('spawn-idempotency-conflict', /once: .*--idempotency-key/),
    );
    expect(await home.sessions()).toHaveLength(1);
  });

  test('takes what is set, leaves out what is cleared, and tells both in the receipt', async () => {
    await using home = stubbedHome();
    writeClaude(home, COMPOSING);
    const set = ['--size', '100x30', '--set', 'prompt=mend it', '--clear', 'arguments'];
    const receipt = SpawnReceipt.parse(await home.json(['run', '-p', 'fix', ...set]));
    expect(receipt).toMatchObject({
      size: { columns: 100, rows: 30 },
      arguments: 0,
      prompt: { present: true, byteLength: 7 },
      provenance: { size: 'override', prompt: 'override', arguments: 'cleared', provider: 'profile' },
    });
    const screen = await home.screenShows(receipt.name, /called with .*\ngot mend it/);
    expect(screen).not.toContain('--model');
    const behind = SpawnReceipt.parse(
      JSON.parse(await home.ok(['run', '-p', 'fix', '-n', 'two', '--json', '--', '--model', 'a b'])),
    );
    expect(behind).toMatchObject({ arguments: 2, provenance: { arguments: 'override' } });
    await home.screenShows('two', /called with .*--model a b/);
  });

  test('runs in the workspace around the directory, and says so when its root is another', async () => {
    await using home = stubbedHome();
    mkdirSync(join(home.work, 'inner'));
    await home.ok(['workspace', 'add', '.', '--id', 'outer']);
    const inner = await home.roost(['run', '-p', 'plain', '-C', 'inner', '--json']);
    expect(inner.stderr).toContain('the root of workspace outer');
    expect(SpawnReceipt.parse(JSON.parse(inner.stdout)).target.workspaceId).toBe('outer');
    const named = SpawnReceipt.parse(await home.json(['run', '-p', 'plain', '--workspace', 'outer']));
    expect(named.target.workspaceId).toBe('outer');
    expect(await home.roost(['run', '-p', 'plain', '--workspace', 'nowhere'])).toEqual(
      refusal('unknown-workspace', /nowhere: roost workspace ls/),
    );
    expect(await home.roost(['run', '-p', 'plain', '-C', 'nowhere'])).toEqual(refusal('invalid-directory'));
  });

  test('is refused before anything starts when profile, revision or capability is not there', async () => {
    await using home = stubbedHome();
    writeProfile(home, 'broken', '{');
    const { stderr, code } = await home.roost(['run', '-p', 'broken']);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^\[roost\] broken\.json: .*\nroost: unknown-spawn-profile: .*\n {2}broken: roost profile ls/,
    );
    expect(await home.roost(['run', '-p', 'plain', '--expect-revision', 'r0'])).toEqual(
      refusal('spawn-profile-revision-mismatch', /it is r1/),
    );
    expect(await home.roost(['run', '-p', 'plain', '--require', 'semantic-resume'])).toEqual(
      refusal('unsupported-spawn-capability', /--require/),
    );
    expect(await home.roost(['run', '-p', 'plain', '--set', 'bundle=tools'])).toEqual(
      refusal('unknown-bundle', /--clear bundle/),
    );
    expect(await home.sessions()).toEqual([]);
  });

  test('asks by its key for what became of it when the connection is lost, and starts nothing twice', async () => {
    await using home = new RoostHome();
    mkdirSync(home.home, { mode: 0o700 });
    const keys: string[] = [];
    let asked = 0;
    const node = await FakeNode.listen({
      socketPath: join(home.home, 'node.sock'),
      onRequest: ({ id, operation, params }, connection) => {
        const answer = (result: unknown) => connection.send({ kind: 'response', id, result });
        switch (operation) {
          case 'profile.list':
            answer({ profiles: [{ ...SUMMARY, id: 'fix' }], faults: [] });
            return;
          case 'workspace.list':
            answer({ workspaces: [{ ...WORKSPACE, root: home.work }] });
            return;
          case 'spawn.submit':
            keys.push((params as { idempotencyKey: string }).idempotencyKey);
            connection.cut();
            return;
          case 'spawn.result':
            asked += 1;
            if (asked === 1) answer({ state: 'unknown' });
            else if (asked === 2) connection.cut();
            else if (asked === 3) answer({ state: 'pending' });
            else answer({ state: 'accepted', receipt: { ...RECEIPT, idempotencyKey: keys[0] } });
            return;
          default:
            throw new Error(`not expected: ${operation}`);
        }
      },
    });
    try {
      const { code, stdout, stderr } = await home.roost(['run', '--no-start', '-p', 'fix']);
      expect({ code, stdout }).toEqual({ code: 0, stdout: 'one 1111111111111111\n' });
      expect(stderr).toBe(`[roost] no answer yet; asking what became of launch ${keys[0] ?? ''}\n`);
      expect(keys).toEqual([keys[0], keys[0]]);
      expect(asked).toBe(4);
    } finally {
      await node.close();
    }
  });
});

describe('records', () => {
  test('are listed, shown, renamed, resumed and forgotten by name and by the beginning of an id', async () => {
    await using home = stubbedHome();
    await home.ok(['run', '-d', '-p', 'fix', '-n', 'one']);
    await home.ok(['run', '-d', '-p', 'fix', '-n', 'two']);
    const [one, two] = (await home.json<unknown[]>(['records', 'ls'])).map((each) =>
      SessionRecord.parse(each),
    );
    expect([one?.name, two?.name]).toEqual(['one', 'two']);
    expect(await home.ok(['records', 'ls'])).toMatch(/^ID +NAME +.*\n[0-9a-f]{8} +one +claude +live /);
    const shown = await home.json<unknown[]>(['records', 'show', 'one', two!.id.slice(0, 10)]);
    expect(shown.map((each) => SessionRecord.parse(each).id)).toEqual([one!.id, two!.id]);
    expect(await home.ok(['records', 'show', 'one'])).toMatch(/^state +live$/m);

    expect(SessionRecord.parse(await home.json(['records', 'rename', 'one', 'uno'])).name).toBe('uno');
    expect((await home.session('uno')).recordId).toBe(one!.id);
    expect(await home.roost(['records', 'rename', 'uno', 'two'])).toEqual(refusal('name-taken'));

    expect(await home.roost(['records', 'forget', 'uno'])).toEqual(
      refusal('session-record-busy', /it runs already; roost attach NAME/),
    );
    await home.ok(['stop', 'uno', 'two', '--force']);
    const resumed = await home.json<unknown[]>(['records', 'resume', 'uno', 'two']);
    expect(resumed.map((each) => SessionRecord.parse(each).generation)).toEqual([2, 2]);
    await home.ok(['stop', 'uno', 'two', '--force']);
    const partly = await home.roost(['records', 'forget', 'uno', 'nobody']);
    expect(partly).toMatchObject({ code: 1, stdout: 'forgot uno\n' });
    expect(partly.stderr).toMatch(/^roost: unknown-session-record: .*\(nobody\)\n.*roost records ls/);
    expect((await home.json<SessionRecord[]>(['records', 'ls'])).map(({ name }) => name)).toEqual(['two']);
    expect(await home.roost(['records', 'show', 'uno'])).toEqual(refusal('unknown-session-record'));
  });

  test('resume runs an ended agent on as the next run of its record, and only once', async () => {
    await using home = stubbedHome();
    await home.ok(['run', '-d', '-n', 'one', 'claude']);
    const [, own] = /--session-id (\S+)/.exec(await home.screenShows('one', /--session-id \S+/)) ?? [];
    expect(await home.roost(['resume', 'one'])).toEqual(refusal('session-record-busy', /roost attach NAME/));
    await home.ok(['stop', 'one', '--force']);
    const answer = await home.json<{ record: unknown; session: unknown }>([
      'resume',
      'one',
      '--size',
      '90x30',
    ]);
    const session = Session.parse(answer.session);
    expect(SessionRecord.parse(answer.record)).toMatchObject({ name: 'one', generation: 2, state: 'live' });
    expect(session).toMatchObject({ name: 'one', generation: 2, size: { columns: 90, rows: 30 } });
    await home.screenShows('one', new RegExp(`--resume ${own ?? 'nothing'}`));
    await home.ok(['stop', 'one', '--force']);
    expect(await home.ok(['resume', 'one', '--detach'])).toMatch(/^one [0-9a-f]{16}\n$/);
    expect(await home.roost(['resume', 'nobody'])).toEqual(refusal('unknown-session-record', /nobody: /));
  });

  test('resume brings the agent to this terminal', async () => {
    await using home = stubbedHome();
    await home.ok(['run', '-d', '-n', 'one', 'claude']);
    await home.ok(['stop', 'one', '--force']);
    writeClaude(home, COMPOSING);
    const terminal = home.terminal(['resume', 'one', '--prompt', 'go on']);
    await terminal.shows(/called with --resume \S+\s+got go on/);
  });
});

describe('controller', () => {
  test('hold keeps everybody else from changing things until it is given back', async () => {
    const home = shared;
    expect(await home.json(['controller'])).toEqual({ controller: null });
    expect(await home.ok(['controller'])).toMatch(/^nobody/);
    const holder = await started(home, ['controller', 'hold']);
    const { controller } = await home.json<{ controller: { clientName: string } }>(['controller']);
    expect(controller.clientName).toBe('roost-cli');
    expect(await home.roost(['run', '-d', 'shell'])).toEqual(
      refusal('controller-busy', /roost controller break/),
    );
    expect(await home.roost(['controller', 'hold'])).toEqual(
      refusal('controller-busy', /roost-cli, connection/),
    );
    expect((await home.roost(['ls', '--json'])).code).toBe(0);
    holder.child.kill('SIGINT');
    expect(await holder.ended).toMatchObject({ code: 0, stderr: '' });
    expect(await home.json(['controller', 'show'])).toEqual({ controller: null });
    await home.ok(['run', '-d', 'shell']);
  });

  test('break ends the lease of another at once, take-over passes it on, and both losers are told', async () => {
    const home = shared;
    expect(await home.json(['controller', 'break'])).toEqual({ broken: null });
    const first = await started(home, ['controller', 'hold']);
    const second = await started(home, ['controller', 'hold', '--take-over']);
    expect(await first.ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^roost: controller-busy: /),
    });
    expect(await home.ok(['controller', 'break'])).toMatch(/^took it from roost-cli \(connection \d+/);
    expect(await second.ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^roost: controller-busy: /),
    });
    expect(await home.json(['controller'])).toEqual({ controller: null });
  });

  test('hold ends by itself after its time', async () => {
    const home = shared;
    const held = await home.json<{ controller: { remainingMs: number } }>([
      'controller',
      'hold',
      '--for',
      '0.2',
    ]);
    expect(held.controller.remainingMs).toBeGreaterThan(0);
    expect(await home.json(['controller'])).toEqual({ controller: null });
  });
});

describe('profile', () => {
  test('ls and show tell what everybody may know, and what is wrong with files', async () => {
    const home = shared;
    writeProfile(home, 'broken', '{"provider":');
    const ran = await home.roost(['profile', 'ls', '--json']);
    const profiles = (JSON.parse(ran.stdout) as unknown[]).map((each) => SpawnProfileSummary.parse(each));
    expect(profiles.map(({ id }) => id).sort()).toEqual(['fix', 'plain']);
    expect(ran).toMatchObject({ code: 0, stderr: expect.stringMatching(/^\[roost\] broken\.json: .+\n$/) });
    expect((await home.roost(['profile', 'ls'])).stdout).toMatch(/^plain +shell +pty +r1/m);
    expect(SpawnProfileSummary.parse(await home.json(['profile', 'show', 'fix']))).toMatchObject({
      id: 'fix',
      description: 'mends things',
    });
    const shown = await home.ok(['profile', 'show', 'fix']);
    expect(shown).toMatch(/^provider +claude, pty$/m);
    expect(shown).not.toContain('opus');
    expect(await home.roost(['profile', 'show', 'broken'])).toEqual(refusal('unknown-spawn-profile'));
    expect(await home.roost(['profile', 'show'])).toEqual(misuse);
    rmSync(join(home.home, 'profiles/spawn/broken.json'));
  });
});

describe('prompt and keys', () => {
  test('a prompt arrives whole, with how far it came; where that is not known it is refused', async () => {
    await using home = stubbedHome();
    await home.ok(['run', '-d', '-n', 'bare', 'claude']);
    await home.screenShows('bare', /called with/);
    expect(await home.roost(['prompt', 'bare', 'x'])).toEqual(refusal('agent-not-ready'));
    writeClaude(home, COMPOSING);
    await home.ok(['run', '-d', '-n', 'one', 'claude']);
    await becomesReady(home, 'one');
    const answer = await home.json<{ delivery: string; bytesWritten: number }>([
      'prompt',
      'one',
      'first thing',
    ]);
    expect(answer).toMatchObject({ delivery: 'written', bytesWritten: expect.any(Number) });
    await home.screenShows('one', /got first thing/);
    await home.ok(['run', '-d', '-n', 'two', 'claude']);
    await becomesReady(home, 'two');
    expect(await home.ok(['prompt', 'two', '-'], { input: 'second thing' })).toBe('written\n');
    await home.screenShows('two', /got second thing/);
    await home.run('other', ['cat']);
    expect(await home.roost(['prompt', 'other', 'x'])).toEqual(
      refusal('prompt-unsupported', /roost send NAME/),
    );
    expect(await home.roost(['prompt', 'nobody', 'x'])).toEqual(refusal('unknown-session'));
  });

  test('keys are pressed by their names, in order', async () => {
    const home = shared;
    await home.run('keys', ['bash', '-c', 'stty raw -echo; echo ready; head -c 7 | od -An -tx1; sleep 100']);
    await home.screenShows('keys', /ready/);
    await home.ok([
      'send',
      'keys',
      '--key',
      'up',
      '--key',
      'tab',
      '--key',
      'end-of-file',
      '--key',
      'backspace',
      '--key',
      'enter',
    ]);
    await home.screenShows('keys', /1b 5b 41 09 04 7f 0d/);
    expect(await home.roost(['send', 'keys', '--key', 'any'])).toEqual(misuse);
    expect(await home.roost(['send', 'nobody', '--key', 'up'])).toEqual(refusal('unknown-session'));
  });
});

describe('token', () => {
  test('is that of the file; the one of an observer is another one', async () => {
    const home = shared;
    const operator = await home.roost(['token']);
    expect(operator).toMatchObject({ code: 0, stderr: expect.stringContaining('any command') });
    expect(operator.stdout).toBe(readFileSync(join(home.home, 'node.token'), 'utf8'));
    const observer = await home.roost(['token', '--observer']);
    expect(observer).toMatchObject({ code: 0, stderr: expect.stringContaining('changes nothing') });
    expect(observer.stdout).toMatch(/^roost_observer_[0-9a-f]{64}\n$/);
    expect(await home.roost(['token', 'mine'])).toEqual(misuse);
  });

  test('where no node runs and none may be started, none is made', async () => {
    await using home = new RoostHome();
    expect(await home.roost(['token', '--no-start'])).toEqual(refusal('node-not-running', /roost up/));
    expect(existsSync(home.home)).toBe(false);
  });
});

describe('events', () => {
  test('follow notes where the journal has a hole, and goes on', async () => {
    await using home = stubbedHome();
    await home.ok(['up', '--no-hub']);
    const following = await started(home, ['events', '--follow', '--json', '--after', '0']);
    const gap = spawn(process.execPath, [CLI, 'events', '--follow', '--json', '--after', '100000'], {
      cwd: home.work,
      env: home.environment,
    });
    children.push(gap);
    let [stdout, stderr] = ['', ''];
    gap.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    gap.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    await waitFor('the hole to be noted', () => stderr.includes('goes on here after'), {
      state: () => stderr,
    });
    await home.ok(['workspace', 'add', '.', '--id', 'here']);
    for (const output of [following.output, () => stdout]) {
      await waitFor('the event of the workspace', () => output().includes('"here"'), { state: output });
      const lines = output().trimEnd().split('\n');
      expect(NodeEvent.parse(JSON.parse(lines.at(-1)!)).body.kind).toBe('workspace-registered');
    }
  });
});

describe('doctor', () => {
  test('names a token that others can read, and a configuration that is no JSON', async () => {
    const home = shared;
    await home.ok(['up', '--no-hub']);
    const findings = () =>
      home
        .roost(['doctor', '--json'])
        .then(({ stdout }) => JSON.parse(stdout) as { level: string; subject: string; text: string }[]);
    expect(await findings()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ subject: 'token', level: 'ok' }),
        expect.objectContaining({ subject: 'configuration', level: 'ok' }),
        expect.objectContaining({
          subject: 'provider claude',
          text: expect.stringMatching(/\/programs\/claude, 2\.9\.9$/),
        }),
      ]),
    );
    chmodSync(join(home.home, 'node.token'), 0o644);
    writeFileSync(join(home.home, 'config.json'), '{ "listen": ');
    const bad = await findings();
    chmodSync(join(home.home, 'node.token'), 0o600);
    writeFileSync(join(home.home, 'config.json'), '{}');
    expect(bad.filter(({ level }) => level === 'fail').map(({ subject }) => subject)).toEqual([
      'token',
      'configuration',
    ]);
  });
});

const SUMMARY = {
  revision: 'r1',
  description: null,
  provider: 'claude',
  transport: 'pty',
  environmentProfile: null,
};
const WORKSPACE = { id: 'w', kind: 'plain', createdAt: '2026-01-01T00:00:00.000Z', liveSessions: 0 };
const RECEIPT = {
  incarnation: FAKE_SELECTION.node.incarnation,
  target: { nodeId: FAKE_SELECTION.node.id, workspaceId: 'w', worktreeId: null },
  profileId: 'fix',
  profileRevision: 'r1',
  session: { workspaceId: 'w', sessionId: '1111111111111111', generation: 1 },
  recordId: '2222222222222222',
  name: 'one',
  provider: 'claude',
  transport: 'pty',
  size: { columns: 80, rows: 24 },
  arguments: 0,
  prompt: { present: false, byteLength: 0 },
  environmentProfile: null,
  bundle: null,
  context: null,
  provenance: {
    provider: 'profile',
    transport: 'profile',
    size: 'profile',
    arguments: 'profile',
    prompt: 'profile',
    environmentProfile: 'profile',
    bundle: 'profile',
    context: 'profile',
  },
  deadlineMs: 120_000,
  requiredCapabilities: [],
};

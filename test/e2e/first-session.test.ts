import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RoostHome } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';

let roost: RoostHome;
beforeEach(() => {
  roost = new RoostHome();
});
afterEach(() => roost[Symbol.asyncDispose]());

describe('a first session', () => {
  it('is spawned detached, typed to, and read', async () => {
    expect(await roost.ok(['run', '--detach', '--name', 'a', '--', 'bash'])).toMatch(/^a [0-9a-f]{16}\n$/);
    await roost.ok(['send', 'a', 'echo $((6*7))', '--enter']);
    expect(await roost.screenShows('a', /^42$/m)).toContain('echo $((6*7))');
  });

  it('tells its exit code, its signal, and keeps what it printed', async () => {
    await roost.run('code', ['sh', '-c', 'echo over; exit 3']);
    await roost.run('signal', ['sh', '-c', 'kill -TERM $$']);
    const code = await waitFor('the exit', async () => {
      const session = await roost.session('code');
      return session.status === 'exited' ? session : null;
    });
    expect([code.exitCode, code.exitSignal]).toEqual([3, null]);
    const signal = await waitFor('the exit', async () => {
      const session = await roost.session('signal');
      return session.status === 'exited' ? session : null;
    });
    expect([signal.exitCode, signal.exitSignal]).toEqual([null, 'SIGTERM']);
    expect(await roost.ok(['logs', 'code'])).toBe('over\n');
  });

  it('resolves names, ids and unique prefixes, and lists the candidates of an ambiguous one', async () => {
    const one = await roost.run('one', ['cat']);
    await roost.run('two', ['cat']);
    for (const selector of ['one', one.id, one.id.slice(0, 8)]) {
      await roost.ok(['send', selector, selector, '--enter']);
      await roost.screenShows('one', new RegExp(`^${selector}$`, 'm'));
    }
    const unknown = await roost.roost(['logs', 'three']);
    expect([unknown.code, unknown.stdout]).toEqual([1, '']);
    expect(unknown.stderr).toMatch(/^roost: unknown-session: .+\n.+\n$/);
  });

  it('refuses a taken name and a missing program with a code, a sentence and a hint', async () => {
    await roost.run('one', ['cat']);
    const taken = await roost.roost(['run', '--detach', '--name', 'one', '--', 'cat']);
    expect(taken.code).toBe(1);
    expect(taken.stderr).toMatch(/^roost: name-taken: .+\n.+\n$/);
    const missing = await roost.roost(['run', '--detach', '--', 'no-such-program-anywhere']);
    expect(missing.code).toBe(1);
    expect(missing.stderr).toMatch(/^roost: command-not-found: .+\n.+\n$/);
    expect((await roost.sessions()).map(({ name }) => name)).toEqual(['one']);
  });

  it('answers wrong usage with 2 and an unknown operation with 1', async () => {
    for (const args of [
      ['nonsense'],
      ['run'],
      ['send', 'a'],
      ['ls', '--nope'],
      ['run', '--size', '0x0', 'shell'],
    ]) {
      const ran = await roost.roost(args);
      expect([args, ran.code, ran.stdout]).toEqual([args, 2, '']);
    }
    expect((await roost.roost(['api', 'session.nonsense', '{}'])).code).toBe(1);
  });

  it('gets only the allow-listed environment and what was named', async () => {
    roost.environment.SECRET_TOKEN = 'must-not-pass';
    await roost.run('env', ['sh', '-c', 'env; read x'], ['--env', 'GIVEN=yes=1']);
    const shown = await roost.screenShows('env', /GIVEN=yes=1/);
    expect(shown).toContain('TERM=xterm-256color');
    expect(shown).toContain('COLORTERM=truecolor');
    // A `roost` inside the session finds the node that hosts it.
    expect(shown).toContain(`ROOST_HOME=${roost.home}`);
    expect(await roost.ok(['logs', 'env'])).not.toContain('must-not-pass');
  });

  it('lists, stops, refuses to remove what runs, and removes', async () => {
    await roost.run('job', ['sleep', '600']);
    const [listed] = await roost.json<{ name: string; status: string; usage: { residentBytes: number } }[]>([
      'ls',
    ]);
    expect(listed).toMatchObject({ name: 'job', status: 'running' });
    expect(listed?.usage.residentBytes).toBeGreaterThan(0);
    const refused = await roost.roost(['rm', 'job']);
    expect([refused.code, refused.stderr.split(':')[1]]).toEqual([1, ' session-running']);
    await roost.ok(['stop', 'job']);
    expect(await roost.json(['ls'])).toEqual([]);
    await roost.ok(['rm', 'job']);
    expect(await roost.sessions()).toEqual([]);
  });

  it('starts nothing with --no-start', async () => {
    const refused = await roost.roost(['ls', '--no-start']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/^roost: node-not-running: /);
    expect(roost.daemons()).toEqual([]);
  });

  it('stops with everything on `down --sessions`, and leaves sessions on `down`', async () => {
    const { pid } = await roost.run('job', ['sleep', '600']);
    await roost.ok(['down']);
    expect(() => process.kill(pid ?? 0, 0)).not.toThrow();
    await roost.ok(['up', '--no-hub']);
    expect((await roost.session('job')).pid).toBe(pid);
    await roost.ok(['down', '--sessions']);
    expect(() => process.kill(pid ?? 0, 0)).toThrow();
  });

  it('tells every change in the journal, in order and without gaps', async () => {
    await roost.run('job', ['sh', '-c', 'read x']);
    await roost.ok(['send', 'job', 'go', '--enter']);
    await waitFor('the exit', async () => (await roost.session('job')).status === 'exited');
    await roost.ok(['rm', 'job']);
    const events = await roost.json<
      { sequence: number; body: { kind: string; session?: { status: string } } }[]
    >(['events']);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    const told = events.map(({ body }) => body.session?.status ?? body.kind);
    expect(told.filter((one, index) => one !== told[index - 1])).toEqual([
      'node-started',
      'workspace-registered',
      'starting',
      'running',
      'exited',
      'session-removed',
    ]);
  });
});

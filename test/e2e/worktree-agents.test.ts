/** Two sessions in managed worktrees of one repository, and a person in the main checkout: each sees its own changes only. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  claudeEnvironment,
  codexHome,
  startMockModelServer,
  type MockReply,
  type RecordedRequest,
} from '@roost/lab';
import { expect, it } from 'vitest';
import type { LeaseEvidence, WorktreeLease } from '@roost/protocol';
import { asFlags, installRealCli } from '../support/real-cli.ts';
import { RoostHome } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';

function git(roost: RoostHome, directory: string, ...args: string[]): string {
  return execFileSync(
    'git',
    ['-C', directory, '-c', 'user.name=Test', '-c', 'user.email=test@localhost', ...args],
    {
      encoding: 'utf8',
      env: { ...roost.environment, GIT_CONFIG_NOSYSTEM: '1' },
    },
  ).trim();
}

async function scene(): Promise<{ roost: RoostHome; trees: string; profile: (more: object) => void }> {
  const roost = new RoostHome();
  const trees = join(roost.root, 'trees');
  mkdirSync(trees);
  git(roost, roost.work, 'init', '--quiet', '--initial-branch=main');
  writeFileSync(join(roost.work, 'shared.txt'), 'one\n');
  git(roost, roost.work, 'add', '--all');
  git(roost, roost.work, 'commit', '--quiet', '-m', 'first');
  await roost.ok(['workspace', 'add', roost.work]);
  const profile = (more: object) => {
    const directory = join(roost.home, 'profiles', 'worktree');
    mkdirSync(directory, { recursive: true });
    const content = { sourceWorkspace: 'work', targetRoot: trees, ...more };
    writeFileSync(join(directory, 'trees.json'), JSON.stringify(content));
  };
  return { roost, trees, profile };
}

const write = (name: string) => [
  'sh',
  '-c',
  `echo ${name} >> shared.txt; echo ${name} > ${name}.txt; exec cat`,
];

it('shows each of two sessions and a person in the main checkout only its own changes', async () => {
  const { roost, trees, profile } = await scene();
  await using _ = roost;
  profile({ ports: { count: 2 } });
  for (const name of ['one', 'two']) {
    await roost.ok(['run', '--detach', '--name', name, `--worktree=work/${name}`, '--', ...write(name)]);
  }
  writeFileSync(join(roost.work, 'person.txt'), 'mine\n');
  const leases = await roost.json<WorktreeLease[]>(['worktree', 'leases']);
  expect(leases.map(({ branch, state }) => [branch, state])).toEqual([
    ['work/one', 'in-use'],
    ['work/two', 'in-use'],
  ]);
  for (const lease of leases) {
    const name = lease.branch.slice('work/'.length);
    await waitFor(`${name} to have written`, () => existsSync(join(trees, lease.id, `${name}.txt`)));
  }
  for (const [name, other] of [
    ['one', 'two'],
    ['two', 'one'],
  ] as const) {
    const diff = await roost.ok(['diff', name]);
    expect(diff).toContain(`+${name}`);
    expect(diff).not.toContain(`+${other}`);
    expect(diff).not.toContain('person');
  }
  expect(git(roost, roost.work, 'status', '--porcelain')).toBe('?? person.txt');
  expect(await roost.ok(['git', 'status'])).toContain('person.txt');
});

/** What the model has its agent run, and an end once that has been done. */
function command({ body, prompt }: RecordedRequest): MockReply {
  const name = /write (one|two)/.exec(prompt)?.[1] ?? /write (one|two)/.exec(JSON.stringify(body))?.[1];
  const isDone = /"(?:tool_result|function_call_output)"/.test(JSON.stringify(body));
  const cmd = `echo ${name} >> shared.txt; echo ${name} > ${name}.txt`;
  if (name === undefined || isDone) return { kind: 'text', text: 'written' };
  const input = JSON.stringify(body).includes('exec_command')
    ? { cmd }
    : { command: cmd, description: 'write' };
  return { kind: 'tools', calls: [{ name: 'cmd' in input ? 'exec_command' : 'Bash', input }] };
}

it('shows each of two real agents, Claude Code and Codex, only its own changes', async (context) => {
  const { roost, trees, profile } = await scene();
  await using _ = roost;
  const server = await startMockModelServer({ reply: command });
  try {
    const agents = [
      ['one', 'claude', '-p --dangerously-skip-permissions', claudeEnvironment],
      ['two', 'codex', 'exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox', codexHome],
    ] as const;
    profile({});
    for (const [name, cli, options, prepare] of agents) {
      const environment = await prepare({ home: join(roost.root, `home-${name}`), baseUrl: server.url });
      const script = `'${await installRealCli(cli, context)}' ${options} 'write ${name}' </dev/null; exec cat`;
      await roost.ok([
        'run',
        '--detach',
        '--name',
        name,
        ...asFlags(environment),
        `--worktree=work/${name}`,
        '--',
        'sh',
        '-c',
        script,
      ]);
    }
    writeFileSync(join(roost.work, 'person.txt'), 'mine\n');
    for (const { id, branch } of await roost.json<WorktreeLease[]>(['worktree', 'leases'])) {
      const name = branch.slice('work/'.length);
      await waitFor(`${name} to have written`, () => existsSync(join(trees, id, `${name}.txt`)), {
        timeoutMs: 60_000,
        state: () => roost.ok(['logs', name]),
      });
    }
    for (const [name, other] of [
      ['one', 'two'],
      ['two', 'one'],
    ] as const) {
      const diff = await roost.ok(['diff', name]);
      expect(diff).toContain(`+${name}`);
      expect(diff).not.toContain(`+${other}`);
      expect(diff).not.toContain('person');
    }
    expect(git(roost, roost.work, 'status', '--porcelain')).toBe('?? person.txt');
  } finally {
    await server.close();
  }
});

it('a managed worktree goes with its command; one with work in it shows what stands against that, and what can be done', async () => {
  const { roost, trees, profile } = await scene();
  await using _ = roost;
  profile({});
  await roost.ok(['run', '--detach', '--name', 'clean', '--worktree', '--', 'true']);
  await waitFor('the clean one to go', () => readdirSync(trees).length === 0);
  await roost.ok([
    'run',
    '--detach',
    '--name',
    'dirty',
    '--worktree',
    '--',
    'sh',
    '-c',
    'echo work > new.txt',
  ]);
  const [lease] = await waitFor('the other one to stay', async () => {
    const leases = await roost.json<WorktreeLease[]>(['worktree', 'leases']);
    return leases[0]?.state === 'cleanup-blocked' && leases;
  });
  const id = lease?.id ?? '';
  const refused = await roost.roost(['worktree', 'rm', id]);
  expect(refused.stderr).toContain('worktree-dirty');
  expect(await roost.ok(['worktree', 'resolve', id])).toContain(`roost worktree resolve ${id} keep`);
  const evidence = await roost.json<LeaseEvidence>(['worktree', 'resolve', id]);
  expect(evidence).toMatchObject({ verdict: 'owned', clean: 'no' });
  expect(await roost.ok(['worktree', 'resolve', id, 'keep'])).toContain(`${id} kept`);
  expect(existsSync(join(trees, id, 'new.txt'))).toBe(true);
  expect(await roost.ok(['worktree', 'profiles'])).toContain('trees');
});

it('without a profile, a launch makes an ordinary worktree and runs there', async () => {
  const { roost } = await scene();
  await using _ = roost;
  const { stdout, stderr } = await roost.roost([
    'run',
    '--detach',
    '--name',
    'plain',
    '--worktree',
    '--',
    'sh',
    '-c',
    'pwd; exec cat',
  ]);
  expect(stdout).toContain('plain');
  expect(stderr).toContain('roost worktree rm');
  expect(git(roost, roost.work, 'worktree', 'list').split('\n')).toHaveLength(2);
});

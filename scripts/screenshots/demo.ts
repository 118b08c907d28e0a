/** A small fleet at work, to be looked at: two machines and one that is away, people, agents that ask, have finished, go on. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startHub } from '@roost/client';
import { ensureRealCli, HOMES, startMockModelServer, type MockModelServer } from '@roost/lab';
import { UserName } from '@roost/protocol';
import { CLI, RoostHome } from '../../test/support/roost-home.ts';
import { HubHome } from '../../test/support/hub-home.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { replyTo } from './model.ts';
import { addWorktree, makeShop, makeSite, PROGRAMS } from './work.ts';

const HUB_SCRIPT = join(dirname(CLI), 'hub.js');

export interface Demo extends AsyncDisposable {
  readonly mill: HubHome;
}

/** `me`: the home of whoever works there; null makes a temporary one. */
export async function startDemo(me: string | null): Promise<Demo> {
  if (me !== null && existsSync(me)) throw new Error(`${me} is there already`);
  const home = me ?? mkdtempSync(join(tmpdir(), 'me-'));
  mkdirSync(home, { recursive: true });
  const server = await startMockModelServer({ reply: replyTo(join(home, 'shop')) });
  const environment = await environmentOf(home, server);
  const mill = new HubHome({ environment });
  const [forge, attic] = [new RoostHome({ environment }), new RoostHome({ environment })];
  const dispose = async (): Promise<void> => {
    for (const one of [attic, forge, mill]) await one[Symbol.asyncDispose]();
    await server.close();
    rmSync(home, { recursive: true, force: true });
  };
  try {
    await furnish({ mill, forge, attic, home });
  } catch (error) {
    await dispose();
    throw error;
  }
  return { mill, [Symbol.asyncDispose]: dispose };
}

async function environmentOf(home: string, server: MockModelServer): Promise<Record<string, string>> {
  const { file } = await ensureRealCli('claude');
  return {
    ...(await HOMES.claude({ home, baseUrl: server.url })),
    PATH: [dirname(file), dirname(process.execPath), process.env.PATH ?? ''].join(':'),
  };
}

interface Fleet {
  readonly mill: HubHome;
  readonly forge: RoostHome;
  readonly attic: RoostHome;
  readonly home: string;
}

async function furnish({ mill, forge, attic, home }: Fleet): Promise<void> {
  const [shop, site, trees] = ['shop', 'site', 'trees'].map((name) => join(home, name)) as [
    string,
    string,
    string,
  ];
  makeShop(shop);
  makeSite(site);
  mkdirSync(trees);
  profile(mill, 'worktree', 'trees', { sourceWorkspace: 'shop', targetRoot: trees, ports: { count: 3 } });
  profile(mill, 'spawn', 'review', {
    revision: 'review-3',
    description: 'reads what changed',
    provider: 'claude',
    transport: 'pipe',
  });
  await bringHub(mill);
  const [own] = await mill.json<{ name: string }[]>(['node', 'ls']);
  await mill.ok(['node', 'rename', own?.name ?? '', 'mill']);
  await joinHub(mill, forge, 'forge');
  await joinHub(mill, attic, 'attic');
  await attic.ok(['down', '--sessions']);
  await mill.ok(['workspace', 'add', shop]);
  await forge.ok(['workspace', 'add', site]);
  await people(mill);
  await sessionsOnMill(mill, shop, home);
  await forge.ok(['run', '--detach', '--name', 'image', '--', ...PROGRAMS.image], { cwd: site });
  await forge.ok(['run', '--pipe', '--name', 'nightly', 'claude'], { cwd: site });
  await forge.ok(['prompt', 'nightly', 'Go through every page of the site, and tell what is out of date.']);
}

/** The first user would be called like whoever takes the pictures, had the hub not got one before its link is asked for. */
async function bringHub(mill: HubHome): Promise<void> {
  await mill.ok(['up', '--no-hub']);
  mill.configure();
  await startHub({ home: mill.home, script: HUB_SCRIPT, env: mill.environment });
  await mill.ask('users.create', { name: UserName.parse('ada'), role: 'admin' });
  await mill.up();
}

async function people(mill: HubHome): Promise<void> {
  await mill.ok(['hub', 'user', 'add', 'bob', '--role', 'operator']);
  const { id: nodeId } = await mill.node('forge');
  await mill.ask('users.create', { name: 'cleo', role: 'observer', scope: [{ nodeId }] });
  await mill.ok([
    'hub',
    'token',
    'create',
    'nightly-builds',
    '--user',
    'ada',
    '--role',
    'operator',
    '--days',
    '30',
  ]);
  await mill.ok(['hub', 'token', 'create', 'status-page', '--user', 'bob', '--role', 'observer']);
  await mill.ask('invites.create', { nodeName: null });
}

async function sessionsOnMill(mill: HubHome, shop: string, home: string): Promise<void> {
  const at = { cwd: shop };
  await mill.ok(['run', '--detach', '--name', 'tests', '--', ...PROGRAMS.tests], at);
  writeFileSync(
    join(home, '.bashrc'),
    "PS1='\\[\\e[32m\\]mill\\[\\e[0m\\]:\\[\\e[34m\\]\\w\\[\\e[0m\\]$ '\n",
  );
  await mill.ok(['run', '--detach', '--name', 'shell', '--', 'bash', '--rcfile', join(home, '.bashrc')], at);
  await mill.ok([
    'send',
    'shell',
    "clear; git log --graph --oneline --color --format='%C(yellow)%h%C(reset) %s %C(dim)%an'",
    '--enter',
  ]);
  await mill.ok(['send', 'shell', 'git status --short', '--enter']);
  await mill.ok(['run', '--detach', '--name', 'look-around', 'claude'], at);
  for (const name of ['fix-login', 'review', 'old-idea'])
    await mill.ok(['run', '--pipe', '--name', name, 'claude'], at);
  await mill.ok(['ask', 'old-idea', 'What would it take to sell in two currencies?']);
  await mill.ok(['stop', 'old-idea']);
  await mill.ok(['ask', 'review', 'Look at what I changed in the cart.']);
  await mill.ok(['prompt', 'fix-login', 'Logging in as somebody who is not there throws. Mend it.']);
  await becomes(mill, 'fix-login', 'blocked');
  await mill.ok(
    ['run', '--detach', '--name', 'sending', '--worktree', '--', 'bash', '--rcfile', join(home, '.bashrc')],
    at,
  );
  addWorktree(shop, 'try-sqlite', join(home, 'shop.worktrees', 'try-sqlite'));
}

function becomes(mill: HubHome, name: string, state: string): Promise<unknown> {
  return waitFor(`${name} to be ${state}`, async () => (await mill.session(name)).activity?.state === state, {
    timeoutMs: 60_000,
    state: () => mill.session(name),
  });
}

async function joinHub(hub: HubHome, node: RoostHome, name: string): Promise<void> {
  const { url, code } = await hub.ask('invites.create', { nodeName: null });
  await node.ok(['node', 'join', url, code, '--name', name]);
  await hub.link(name, 'online');
}

function profile(home: RoostHome, kind: 'spawn' | 'worktree', id: string, content: object): void {
  const directory = join(home.home, 'profiles', kind);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, `${id}.json`), JSON.stringify(content));
}

/**
 * What a hub passes on and does not keep: a text of its own in every place of a node that people write into, through everything that one
 * does with sessions. Afterwards none of them is in what the hub tells of itself, nor in any file of its directory.
 */
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import WebSocket from 'ws';
import { hubRequest, nodeRequest } from '@roost/client';
import {
  addressOf,
  API_PREFIX,
  CSRF_HEADER,
  HUB_EVENTS_SOCKET_PATH,
  HUB_OPERATIONS,
  type OperationName,
  type ParamsInput,
  type Result,
} from '@roost/protocol';
import { HubHome } from '../support/hub-home.ts';
import { RoostHome } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';

const SPOKEN_AGENT = new URL('../support/spoken-agent.mjs', import.meta.url).pathname;

const PLACES = [
  'directory',
  'argument',
  'environment',
  'typed',
  'printed',
  'title',
  'prompt',
  'answer',
  'refused',
  'file',
  'selector',
  'bearer',
  'query',
  'cookie',
] as const;
type Place = (typeof PLACES)[number];

const canary = (place: Place) => `canary-${place}-5d1f`;
/** The detail of what the agent asks to be allowed. */
const ASKED = 'secret-canary';

/** Answers of a hub about itself. */
const TOLD = [
  'hub.status',
  'me.show',
  'nodes.list',
  'sessions.list',
  'records.list',
  'workspaces.list',
  'attention.list',
  'invites.list',
  'users.list',
  'tokens.list',
  'audit.list',
] as const;

it('keeps and tells nothing of what is written, printed, asked and answered on its nodes, and no secret of its own', async () => {
  await using roost = new HubHome();
  roost.environment.ROOST_LOG = 'trace';
  const programs = join(roost.root, 'bin');
  mkdirSync(programs);
  symlinkSync(SPOKEN_AGENT, join(programs, 'qwen'));
  roost.environment.PATH = `${programs}:${roost.environment.PATH ?? ''}`;
  // Its last name is what a workspace is called, and may be told.
  const directory = join(roost.root, canary('directory'), 'work');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'notes.txt'), 'one\n');
  await roost.up();
  const { id: node } = await roost.link('local', 'online');
  const operator = await roost.user('operator', 'operator');
  const ask = <Name extends OperationName>(name: Name, params: ParamsInput<Name>): Promise<Result<Name>> =>
    nodeRequest(operator, node, name, params);
  const events = followEvents(operator.url, operator.token);

  const { id: workspaceId } = await ask('workspace.register', { root: directory });
  const terminal = await ask('session.spawn', {
    directory,
    name: 'terminal',
    launch: {
      kind: 'command',
      command: [
        '/bin/sh',
        '-c',
        `printf '\\033]0;${canary('title')}\\007${canary('printed')}\\n'; exec cat`,
        canary('argument'),
      ],
    },
    environment: { SECRET: canary('environment') },
  });
  await ask('session.input', {
    ...addressOf(terminal),
    text: canary('typed'),
    framing: 'literal',
    submit: true,
  });
  await waitFor('it to be echoed', async () =>
    (await ask('session.readScreen', { sessionId: terminal.id })).lines.join('\n').includes(canary('typed')),
  );

  const spoken = await ask('session.spawn', {
    directory,
    name: 'spoken',
    transport: 'pipe',
    launch: { kind: 'provider', provider: 'qwen', arguments: [] },
  });
  const prompt = (text: string) =>
    ask('session.prompt', { ...addressOf(spoken), text, until: 'answered', waitMs: 20_000 });
  expect(await prompt(`say ${canary('prompt')} ${canary('answer')}`)).toMatchObject({ delivery: 'answered' });
  const asking = prompt('ask execute');
  const asked = await waitFor('it to ask', async () => (await ask('interaction.list', {})).interactions[0]);
  expect(JSON.stringify(asked)).toContain(ASKED);
  await ask('interaction.resolve', {
    interactionId: asked.id,
    reply: { kind: 'refuse', message: canary('refused') },
  });
  await asking;

  const { content } = await ask('workspace.readFile', { workspaceId, path: 'notes.txt' });
  if (content.kind !== 'text') throw new Error(`it is ${content.kind}`);
  await ask('workspace.writeFile', {
    workspaceId,
    path: 'notes.txt',
    expectedRevision: content.revision,
    text: canary('file'),
  });
  await expect(ask('session.resolve', { selector: canary('selector') })).rejects.toThrow();
  const refused = (path: string, headers: Record<string, string>) =>
    fetch(`${roost.url}${path}`, { headers });
  for (const [path, headers] of [
    [`${API_PREFIX}/nodes`, { authorization: `Bearer ${canary('bearer')}` }],
    [`${API_PREFIX}/nodes?token=${canary('query')}`, {}],
    [`${API_PREFIX}/nodes`, { cookie: `roost=${canary('cookie')}` }],
  ] as const)
    expect((await refused(path, headers)).status, path).toBeGreaterThanOrEqual(400);
  const { code, url: hubUrl } = await roost.ask('invites.create', {});
  await using far = new RoostHome();
  far.environment.ROOST_LOG = 'trace';
  await far.ok(['up', '--no-hub']);
  await far.ok(['node', 'join', hubUrl, '--name', 'far'], { input: `${code}\n` });
  await roost.link('far', 'online');
  const nodeKey = keyOf(far);
  const { url: link } = await hubRequest(operator, 'logins.create', {});
  const loginCode = link.slice(link.lastIndexOf('/') + 1);
  const redeemed = await fetch(`${roost.url}${API_PREFIX}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: roost.url, [CSRF_HEADER]: '1' },
    body: JSON.stringify({ code: loginCode }),
  });
  expect(redeemed.status).toBe(200);
  await ask('session.stop', addressOf(terminal));
  await ask('session.stop', addressOf(spoken));
  await waitFor('the hub to know', async () =>
    (await roost.ask('sessions.list', {})).sessions.every(({ status }) => status !== 'running'),
  );

  const secrets = [
    ...PLACES.map(canary),
    ASKED,
    /[0-9a-f]{64}/.exec(operator.token)?.[0] ?? operator.token,
    code,
    loginCode,
    nodeKey,
  ];
  const secretsIn = (text: string) => secrets.filter((secret) => text.includes(secret));
  const expectNone = (where: string, text: string) => expect(secretsIn(text), where).toEqual([]);
  for (const name of TOLD) {
    const told = JSON.stringify(await hubRequest(roost.owner, name, {}));
    expect(told.length, name).toBeGreaterThan(2);
    expectNone(name, told);
  }
  for (const path of ['/health', '/metrics'])
    expectNone(path, await (await refused(path, { authorization: `Bearer ${operator.token}` })).text());
  expect(events.text()).toContain('session-changed');
  expectNone('events', events.text());
  events.close();
  expect(readFileSync(join(roost.home, 'hub', 'logs', 'hub.log'), 'utf8')).not.toBe('');
  const keyFiles: string[] = [];
  for (const file of readdirSync(join(roost.home, 'hub'), { recursive: true, encoding: 'utf8' })) {
    const path = join(roost.home, 'hub', file);
    if (!statSync(path).isFile()) continue;
    const found = secretsIn(readFileSync(path, 'latin1'));
    // The keys of nodes are files of their own, for the owner alone.
    if (dirname(file) === 'nodes' && found.length > 0) {
      keyFiles.push(file);
      expect(found, file).toEqual([nodeKey]);
      expect(statSync(path).mode & 0o077, file).toBe(0);
    } else expect(found, file).toEqual([]);
  }
  expect(keyFiles).toHaveLength(1);
  // Nor does the node that joined tell what it was handed and made.
  for (const file of filesIn(join(far.home, 'logs'))) expectNone(file, readFileSync(file, 'latin1'));
});

it('has every answer about itself looked at', () => {
  const lists = Object.values(HUB_OPERATIONS)
    .filter(({ route }) => route.method === 'GET' && !route.path.includes('{'))
    .map(({ name }) => name);
  expect([...TOLD].toSorted()).toEqual(lists.toSorted());
});

/** What the only hub of a node knows it by. */
function keyOf({ home }: RoostHome): string {
  const [membership = ''] = filesIn(join(home, 'hubs'));
  const { key } = JSON.parse(readFileSync(membership, 'utf8')) as { key: string };
  expect(key).toMatch(/^[0-9a-f]{64}$/);
  return key;
}

function filesIn(directory: string): string[] {
  const files = readdirSync(directory).map((name) => join(directory, name));
  expect(files, directory).not.toEqual([]);
  return files;
}

function followEvents(url: string, token: string): { text(): string; close(): void } {
  const socket = new WebSocket(new URL(HUB_EVENTS_SOCKET_PATH, url), {
    headers: { authorization: `Bearer ${token}` },
  });
  let text = '';
  socket.on('message', (data: Buffer) => (text += data.toString()));
  return { text: () => text, close: () => socket.close() };
}

import {
  agent as officialAgent,
  ndJsonStream,
  type RequestPermissionResponse,
} from '@agentclientprotocol/sdk';
import { describe, expect, test } from 'vitest';
import { batter, DriverForTest } from '../driver-for-test.ts';
import { acp } from './driver.ts';

const SESSION = 'sess-1';

const reply = (id: number, result: object | null) => ({ jsonrpc: '2.0', id, result });
const failure = (id: number, code: number, message: string, data?: unknown) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message, data },
});
const update = (sessionUpdate: string, fields: object = {}) => ({
  jsonrpc: '2.0',
  method: 'session/update',
  params: { sessionId: SESSION, update: { sessionUpdate, ...fields } },
});
const chunk = (text: string) => update('agent_message_chunk', { content: { type: 'text', text } });
const initialized = (abilities: object = {}) =>
  reply(1, {
    protocolVersion: 1,
    agentInfo: { name: 'an-agent', version: '1.2.3' },
    agentCapabilities: abilities,
    authMethods: [{ id: 'login', name: 'Log in at the vendor' }],
  });
const modes = {
  currentModeId: 'default',
  availableModes: [
    { id: 'default', name: 'Default' },
    { id: 'plan', name: 'Plan' },
  ],
};
const permission = (id: number | string, fields: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'session/request_permission',
  params: {
    sessionId: SESSION,
    toolCall: { toolCallId: 't1', title: 'make', rawInput: { command: 'make' } },
    options: [
      { optionId: 'always', name: 'Always', kind: 'allow_always' },
      { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
      { optionId: 'no', name: 'No', kind: 'reject_once' },
    ],
    ...fields,
  },
});

function opened(session: object = { modes }): DriverForTest {
  const agent = new DriverForTest(acp);
  agent.driver.open({ directory: '/work', resume: null });
  agent.receive(initialized(), reply(2, { sessionId: SESSION, ...session }));
  return agent;
}

function atWork(): DriverForTest {
  const agent = opened();
  agent.driver.prompt('build it');
  agent.takeEvents();
  agent.takeWritten();
  return agent;
}

describe('a session', () => {
  test('is opened without offering files or terminals, and takes a prompt when it is there', () => {
    const agent = new DriverForTest(acp);
    agent.driver.open({ directory: '/work', resume: null });
    expect(agent.takeWritten()).toMatchObject([
      {
        id: 1,
        method: 'initialize',
        params: {
          protocolVersion: 1,
          clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
        },
      },
    ]);
    agent.receive(initialized());
    expect(agent.driver.prompt('too early')).toBe(false);
    expect(agent.takeWritten()).toEqual([
      { jsonrpc: '2.0', id: 2, method: 'session/new', params: { cwd: '/work', mcpServers: [] } },
    ]);
    agent.receive(reply(2, { sessionId: SESSION, modes }));
    expect(agent.takeEvents()).toMatchObject([
      { kind: 'session-started', providerSessionId: SESSION, version: '1.2.3' },
      { kind: 'choices', choice: 'mode', current: 'default' },
    ]);
    expect(agent.driver.takesPrompt).toBe(true);
  });

  test('that is loaded tells its history again, and none of that is new', () => {
    const agent = new DriverForTest(acp);
    agent.driver.open({ directory: '/work', resume: SESSION });
    agent.receive(initialized({ loadSession: true }));
    expect(agent.takeWritten().at(-1)).toMatchObject({
      method: 'session/load',
      params: { sessionId: SESSION, cwd: '/work' },
    });
    agent.receive(chunk('of yesterday'), update('tool_call', { toolCallId: 'old', title: 'x' }));
    agent.crash();
    agent.receive(chunk('of yesterday, too'));
    expect(agent.takeEvents()).toEqual([]);
    agent.receive(reply(2, null), chunk('of today'));
    expect(agent.takeEvents()).toMatchObject([
      { kind: 'session-started', providerSessionId: SESSION },
      { kind: 'message', text: 'of today' },
    ]);
  });

  test.each([
    [{ sessionCapabilities: { resume: {} }, loadSession: true }, 'session/resume'],
    [{ loadSession: true }, 'session/load'],
  ])('is gone on with by what the agent can do best', (abilities, method) => {
    const agent = new DriverForTest(acp);
    agent.driver.open({ directory: '/work', resume: SESSION });
    agent.receive(initialized(abilities));
    expect(agent.takeWritten().at(-1)).toMatchObject({ method });
  });

  test('is loaded where the agent says that it can resume, and has no such method', () => {
    const agent = new DriverForTest(acp);
    agent.driver.open({ directory: '/work', resume: SESSION });
    agent.receive(initialized({ sessionCapabilities: { resume: {} }, loadSession: true }));
    agent.takeWritten();
    agent.crash();
    agent.receive(failure(2, -32601, '"Method not found": session/resume'));
    expect(agent.takeWritten()).toMatchObject([
      { id: 3, method: 'session/load', params: { sessionId: SESSION, cwd: '/work', mcpServers: [] } },
    ]);
    agent.receive(reply(3, null));
    expect(agent.takeEvents()).toMatchObject([{ kind: 'session-started', providerSessionId: SESSION }]);
  });

  test.each([
    ['the agent cannot go on with an earlier session', [initialized()]],
    ['Session not found', [initialized({ loadSession: true }), failure(2, -32602, 'Session not found')]],
    ['the agent speaks another version of ACP than 1', [reply(1, { protocolVersion: 2 })]],
  ])('that cannot be gone on with ends: %s', (fault, lines) => {
    const agent = new DriverForTest(acp);
    agent.driver.open({ directory: '/work', resume: SESSION });
    agent.receive(...lines);
    expect(agent.takeEvents()).toEqual([{ kind: 'session-ended', fault }]);
  });

  test('that needs a login says how', () => {
    const agent = new DriverForTest(acp);
    agent.driver.open({ directory: '/work', resume: null });
    agent.receive(initialized(), failure(2, -32000, 'Authentication required'));
    expect(agent.takeEvents()).toMatchObject([
      { kind: 'blocked', reasonKind: 'login-required', help: 'Sign in with: Log in at the vendor.' },
      { kind: 'session-ended', fault: 'Authentication required' },
    ]);
  });

  test('ends with the process, whatever is open', () => {
    const agent = atWork();
    agent.receive(permission(7));
    agent.takeEvents();
    agent.driver.closed('killed by signal 9');
    expect(agent.takeKinds()).toEqual([
      'interaction-settled',
      'tool-finished',
      'turn-finished',
      'session-ended',
    ]);
  });
});

describe('a turn', () => {
  test('has pieces, thoughts, plans, tools and a usage, and another one follows', () => {
    const agent = opened();
    agent.takeEvents();
    for (const [at, prompt] of ['one', 'two'].entries()) {
      expect(agent.driver.prompt(prompt)).toBe(true);
      expect(agent.driver.prompt('meanwhile')).toBe(false);
      agent.receive(
        chunk('Hel'),
        update('agent_thought_chunk', { content: { type: 'text', text: 'hm' } }),
        update('plan', { entries: [{ content: 'do it', status: 'in_progress', priority: 'high' }] }),
        update('tool_call', {
          toolCallId: 't1',
          title: 'make',
          kind: 'execute',
          status: 'pending',
          rawInput: { a: 1 },
        }),
        update('tool_call_update', { toolCallId: 't1', status: 'in_progress' }),
        update('tool_call_update', {
          toolCallId: 't1',
          status: 'completed',
          content: [{ type: 'content', content: { type: 'text', text: 'ok' } }],
        }),
        update('tool_call_update', { toolCallId: 't1', status: 'completed' }),
        update('usage_update', { used: 10, size: 100, cost: { amount: 0.5, currency: 'USD' } }),
        update('something_of_tomorrow', { x: 1 }),
        reply(3 + at, { stopReason: 'end_turn' }),
      );
      expect(agent.takeEvents()).toMatchObject([
        { kind: 'turn-started', prompt },
        { kind: 'message', text: 'Hel', delta: true },
        { kind: 'thinking', text: 'hm', delta: true },
        { kind: 'plan', entries: [{ text: 'do it', status: 'in-progress' }] },
        { kind: 'tool-started', toolId: 't1', tool: 'execute', title: 'make', input: '{"a":1}' },
        { kind: 'tool-finished', toolId: 't1', outcome: 'ok', output: 'ok' },
        { kind: 'usage', usage: { scope: 'thread', contextUsed: 10, contextWindow: 100, costUsd: 0.5 } },
        { kind: 'turn-finished', outcome: 'completed', stopReason: 'end_turn' },
      ]);
    }
  });

  test('that is cancelled answers what it still asks, and what it asks from then on', () => {
    const agent = atWork();
    agent.receive(permission(7));
    agent.driver.interrupt();
    agent.driver.interrupt();
    agent.receive(permission(8));
    const cancelled = { outcome: { outcome: 'cancelled' } };
    expect(agent.takeWritten()).toEqual([
      { jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: SESSION } },
      { jsonrpc: '2.0', id: 7, result: cancelled },
      { jsonrpc: '2.0', id: 8, result: cancelled },
    ]);
    agent.receive(reply(3, { stopReason: 'cancelled' }));
    expect(agent.takeEvents().at(-1)).toMatchObject({ kind: 'turn-finished', outcome: 'interrupted' });
    expect(agent.driver.openRequests).toEqual([]);
  });

  test.each([
    ['refusal', 'refused'],
    ['max_tokens', 'limit'],
    ['max_turn_requests', 'limit'],
    ['cancelled', 'interrupted'],
  ])('with stop reason %s is %s', (stopReason, outcome) => {
    const agent = atWork();
    agent.receive(reply(3, { stopReason }));
    const events = agent.takeEvents();
    expect(events.at(-1)).toMatchObject({ kind: 'turn-finished', outcome, stopReason });
    expect(events.some(({ kind }) => kind === 'blocked')).toBe(stopReason === 'refusal');
  });

  test('that the account does not allow is a limit, by the vendor’s own code', () => {
    const agent = atWork();
    const text = 'You’ve hit your usage limit. Try again in 3 hours.';
    agent.receive(failure(3, -32603, text, { codexErrorInfo: 'usageLimitExceeded' }));
    expect(agent.takeEvents()).toMatchObject([
      { kind: 'quota', code: 'usageLimitExceeded', isFinal: true, resetsAt: '2026-03-01T15:00:00.000Z' },
      { kind: 'blocked', authority: 'provider-quota', reason: text, tool: 'Session' },
      { kind: 'turn-finished', outcome: 'limit' },
    ]);
  });

  test('that fails otherwise failed, and the next one may be begun', () => {
    const agent = atWork();
    agent.receive(failure(3, -32603, 'Internal error', { details: 'could not generate' }));
    expect(agent.takeEvents()).toMatchObject([
      { kind: 'turn-finished', outcome: 'failed', fault: 'Internal error: could not generate' },
    ]);
    expect(agent.driver.takesPrompt).toBe(true);
  });
});

describe('a permission', () => {
  test.each([
    [{ kind: 'option', optionId: 'yes' }, { outcome: 'selected', optionId: 'yes' }, 'approved'],
    [{ kind: 'option', optionId: 'no' }, { outcome: 'selected', optionId: 'no' }, 'refused'],
    [{ kind: 'refuse', message: null }, { outcome: 'selected', optionId: 'no' }, 'refused'],
  ] as const)('is answered once, by the id of an option: %j', (answer, outcome, settled) => {
    const agent = atWork();
    agent.receive(permission(7));
    expect(agent.driver.answer('7', { kind: 'option', optionId: 'maybe' })).toBe(false);
    expect(agent.driver.answer('7', answer)).toBe(true);
    expect(agent.driver.answer('7', answer)).toBe(false);
    expect(agent.takeWritten()).toEqual([{ jsonrpc: '2.0', id: 7, result: { outcome } }]);
    expect(agent.takeEvents().at(-1)).toMatchObject({ kind: 'interaction-settled', outcome: settled });
  });

  test('that has no option to refuse once is cancelled', () => {
    const agent = atWork();
    agent.receive(
      permission('p', { options: [{ optionId: 'never', name: 'Never', kind: 'reject_always' }] }),
    );
    agent.driver.answer('p', { kind: 'refuse', message: null });
    expect(agent.takeWritten()).toMatchObject([{ id: 'p', result: { outcome: { outcome: 'cancelled' } } }]);
  });

  test('and its turn go on after a crash', () => {
    const agent = atWork();
    agent.receive(permission(7));
    agent.crash();
    agent.takeEvents();
    agent.receive(permission(7));
    expect(agent.takeEvents()).toEqual([]);
    expect(agent.driver.answer('7', { kind: 'option', optionId: 'yes' })).toBe(true);
    agent.crash();
    expect(agent.driver.answer('7', { kind: 'option', optionId: 'yes' })).toBe(false);
    expect(agent.takeWritten()).toHaveLength(1);
    agent.receive(reply(3, { stopReason: 'end_turn' }));
    expect(agent.driver.prompt('next')).toBe(true);
    expect(agent.takeWritten()).toMatchObject([{ id: 4, method: 'session/prompt' }]);
  });
});

test.each([
  ['permission-rule', 'provider-permission-rule'],
  ['user-rejected', 'user-rejected'],
  ['interrupted', null],
  [undefined, null],
])('a tool that was not executed for %s is a block by %s', (nonExecutionKind, authority) => {
  const agent = atWork();
  agent.receive(
    update('tool_call', { toolCallId: 't1', title: 'make', kind: 'execute' }),
    update('tool_call_update', {
      toolCallId: 't1',
      status: 'failed',
      content: [{ type: 'content', content: { type: 'text', text: 'blocked by a rule' } }],
      _meta: nonExecutionKind === undefined ? null : { nonExecutionKind },
    }),
  );
  const told = agent.takeEvents().filter(({ kind }) => kind === 'blocked');
  expect(told).toMatchObject(authority === null ? [] : [{ authority, toolId: 't1', tool: 'execute' }]);
});

test('what the host does not do is refused, and told when it was about files or commands', () => {
  const agent = atWork();
  const ask = (id: number, method: string) => ({ jsonrpc: '2.0', id, method, params: {} });
  agent.receive(ask(1, 'fs/read_text_file'), ask(2, 'terminal/create'), ask(3, '_vendor/anything'));
  agent.receive(ask(4, 'session/request_permission'));
  expect(agent.takeWritten()).toMatchObject([
    { id: 1, error: { code: -32601 } },
    { id: 2, error: { code: -32601 } },
    { id: 3, error: { code: -32601 } },
    { id: 4, error: { code: -32602 } },
  ]);
  expect(agent.takeEvents()).toMatchObject([
    { kind: 'blocked', authority: 'host-policy', tool: 'Read', reason: 'denied by host policy' },
    { kind: 'blocked', authority: 'host-policy', tool: 'Write' },
  ]);
});

test('modes, models and options are chosen by what offers them', () => {
  const agent = opened({
    modes,
    models: {
      currentModelId: 'a',
      availableModels: [
        { modelId: 'a', name: 'A' },
        { modelId: 'b', name: 'B' },
      ],
    },
    configOptions: [
      {
        id: 'effort',
        name: 'Effort',
        type: 'select',
        currentValue: 'low',
        options: [
          {
            group: 'g',
            name: 'G',
            options: [
              { value: 'low', name: 'Low' },
              { value: 'high', name: 'High' },
            ],
          },
        ],
      },
      { id: 'flag', name: 'Flag', type: 'boolean', currentValue: true },
    ],
  });
  agent.takeEvents();
  agent.takeWritten();
  expect(agent.driver.choose('mode', 'plan')).toBe(true);
  expect(agent.driver.choose('model', 'b')).toBe(true);
  expect(agent.driver.choose('effort', 'high')).toBe(true);
  expect(agent.driver.choose('effort', 'highest')).toBe(false);
  expect(agent.driver.choose('flag', 'false')).toBe(false);
  expect(agent.takeWritten()).toMatchObject([
    { id: 3, method: 'session/set_mode', params: { modeId: 'plan' } },
    { id: 4, method: 'session/set_model', params: { modelId: 'b' } },
    { id: 5, method: 'session/set_config_option', params: { configId: 'effort', value: 'high' } },
  ]);
  agent.crash();
  agent.receive(reply(3, {}), reply(4, {}), failure(5, -32602, 'no such value'));
  expect(agent.takeEvents()).toMatchObject([
    { kind: 'choices', choice: 'mode', current: 'plan' },
    { kind: 'choices', choice: 'model', current: 'b' },
    { kind: 'notice', level: 'warning' },
  ]);
});

test('understands, and is understood by, the official implementation of the other side', async () => {
  const toAgent = new TransformStream<Uint8Array, Uint8Array>();
  const fromAgent = new TransformStream<Uint8Array, Uint8Array>();
  const prompts: string[] = [];
  const peer = officialAgent({ name: 'official' })
    .onRequest('initialize', () => ({
      protocolVersion: 1,
      agentCapabilities: { loadSession: false },
      authMethods: [],
    }))
    .onRequest('session/new', () => ({ sessionId: SESSION, modes }))
    .onRequest('session/prompt', async ({ params, client }) => {
      const [block] = params.prompt;
      prompts.push(block?.type === 'text' ? block.text : '');
      const toolCall = { toolCallId: 't1', title: 'make', kind: 'execute' as const };
      await client.notify('session/update', {
        sessionId: SESSION,
        update: { sessionUpdate: 'tool_call', ...toolCall, status: 'pending' },
      });
      const { outcome }: RequestPermissionResponse = await client.request('session/request_permission', {
        sessionId: SESSION,
        toolCall,
        options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }],
      });
      const status = outcome.outcome === 'selected' ? ('completed' as const) : ('failed' as const);
      await client.notify('session/update', {
        sessionId: SESSION,
        update: { sessionUpdate: 'tool_call_update', toolCallId: 't1', status },
      });
      return { stopReason: 'end_turn' as const };
    })
    .connect(ndJsonStream(fromAgent.writable, toAgent.readable));
  const agent = new DriverForTest(acp);
  const writer = toAgent.writable.getWriter();
  const send = () => {
    for (const line of agent.takeWritten())
      void writer.write(new TextEncoder().encode(`${JSON.stringify(line)}\n`));
  };
  agent.driver.open({ directory: '/work', resume: null });
  send();
  let rest = '';
  for await (const bytes of fromAgent.readable as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + new TextDecoder().decode(bytes)).split('\n');
    rest = lines.pop() ?? '';
    agent.receive(...lines);
    agent.crash();
    agent.driver.prompt('build it');
    for (const id of agent.driver.openRequests) agent.driver.answer(id, { kind: 'option', optionId: 'yes' });
    send();
    if (agent.events.some(({ kind }) => kind === 'turn-finished')) break;
  }
  peer.close();
  expect(prompts[0]).toBe('build it');
  expect(agent.events.map(({ kind }) => kind).slice(0, 7)).toEqual([
    'session-started',
    'choices',
    'turn-started',
    'tool-started',
    'interaction-requested',
    'interaction-settled',
    'tool-finished',
  ]);
});

test('withstands anything that a process may write', () => {
  const lines = [
    initialized({ loadSession: true }),
    reply(2, { sessionId: SESSION, modes }),
    reply(3, { stopReason: 'end_turn' }),
    failure(3, -32603, 'x'),
    chunk('x'),
    update('tool_call', { toolCallId: 't1', title: 'make', kind: 'execute' }),
    update('tool_call_update', { toolCallId: 't1', status: 'completed' }),
    update('config_option_update', {
      configOptions: [{ id: 'a', type: 'select', currentValue: 'x', options: [{ value: 'x', name: 'X' }] }],
    }),
    update('current_mode_update', { currentModeId: 'plan' }),
    permission(7),
    permission('y'),
  ].map((line) => JSON.stringify(line));
  for (const seed of [1, 2]) batter(acp, lines, seed, 150);
});

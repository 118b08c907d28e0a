import { describe, expect, test } from 'vitest';
import { batter, DriverForTest } from '../driver-for-test.ts';
import { codexAppServer } from './app-server.ts';

const THREAD = '01a22a26-9f65-70c1-b33f-ce953d3554d4';
const TURN = '01a22a26-a000-7000-8000-000000000001';

const reply = (id: number, result: object) => ({ id, result });
const note = (method: string, params: object) => ({
  method,
  params: { threadId: THREAD, turnId: TURN, ...params },
});
const turn = (fields: object = {}) => ({ id: TURN, items: [], status: 'inProgress', error: null, ...fields });
const started = note('turn/started', { turn: turn() });
const completed = (fields: object = {}) =>
  note('turn/completed', { turn: turn({ status: 'completed', ...fields }) });
const command = (method: 'item/started' | 'item/completed', fields: object = {}) =>
  note(method, {
    item: {
      type: 'commandExecution',
      id: 'call_1',
      command: 'make',
      cwd: '/work',
      status: 'inProgress',
      aggregatedOutput: null,
      exitCode: null,
      durationMs: null,
      ...fields,
    },
  });
const approval = (id: number | string, fields: object = {}) => ({
  id,
  method: 'item/commandExecution/requestApproval',
  params: {
    threadId: THREAD,
    turnId: TURN,
    itemId: 'call_1',
    reason: 'need it',
    command: 'make',
    cwd: '/work',
    proposedExecpolicyAmendment: ['make'],
    ...fields,
  },
});

function opened(resume: string | null = null): DriverForTest {
  const agent = new DriverForTest(codexAppServer);
  agent.driver.open({ directory: '/work', resume });
  agent.receive(
    reply(1, { userAgent: 'roost/0.171.0 (Debian 12.0.0; x86_64)', codexHome: '/h' }),
    reply(2, { thread: { id: THREAD, turns: [] }, model: 'mock-model' }),
    reply(3, { data: [{ id: 'a', model: 'gpt-a', displayName: 'A' }], nextCursor: null }),
  );
  return agent;
}

function atWork(): DriverForTest {
  const agent = opened();
  agent.driver.prompt('build it');
  agent.receive(reply(4, { turn: turn() }), started);
  agent.takeEvents();
  agent.takeWritten();
  return agent;
}

describe('a conversation', () => {
  test('is opened by handshake, thread, and only then takes a prompt', () => {
    const agent = new DriverForTest(codexAppServer);
    agent.driver.open({ directory: '/work', resume: null });
    expect(agent.takeWritten()).toMatchObject([
      { id: 1, method: 'initialize', params: { clientInfo: { name: 'roost' } } },
    ]);
    expect(agent.driver.prompt('too early')).toBe(false);
    agent.receive(reply(1, { userAgent: 'roost/0.171.0 (x)' }));
    expect(agent.takeWritten()).toEqual([
      { jsonrpc: '2.0', method: 'initialized' },
      { jsonrpc: '2.0', id: 2, method: 'thread/start', params: { cwd: '/work' } },
    ]);
    agent.receive(reply(2, { thread: { id: THREAD }, model: 'mock-model' }));
    expect(agent.takeEvents()).toEqual([
      { kind: 'session-started', providerSessionId: THREAD, model: 'mock-model', version: '0.171.0' },
    ]);
    expect(agent.driver.takesPrompt).toBe(true);
  });

  test('that is resumed is loaded without its turns', () => {
    const agent = opened(THREAD);
    expect(agent.takeWritten()).toContainEqual(
      expect.objectContaining({
        method: 'thread/resume',
        params: { threadId: THREAD, cwd: '/work', excludeTurns: true },
      }),
    );
  });

  test('that is not there is told as the end of the session', () => {
    const agent = new DriverForTest(codexAppServer);
    agent.driver.open({ directory: '/work', resume: THREAD });
    agent.receive(reply(1, { userAgent: 'x' }), {
      id: 2,
      error: { code: -32600, message: `no rollout found for thread id ${THREAD}` },
    });
    expect(agent.takeEvents()).toEqual([
      { kind: 'session-ended', fault: `no rollout found for thread id ${THREAD}` },
    ]);
  });

  test('has turns with pieces, whole messages, tools and the tokens of the thread', () => {
    const agent = opened();
    agent.takeEvents();
    for (const prompt of ['one', 'two']) {
      expect(agent.driver.prompt(prompt)).toBe(true);
      expect(agent.driver.prompt('meanwhile')).toBe(false);
      agent.receive(
        started,
        note('item/agentMessage/delta', { itemId: 'm', delta: 'Hel' }),
        note('item/completed', { item: { type: 'agentMessage', id: 'm', text: 'Hello' } }),
        command('item/started'),
        command('item/completed', {
          status: 'completed',
          aggregatedOutput: 'ok\n',
          exitCode: 0,
          durationMs: 12,
        }),
        note('thread/tokenUsage/updated', {
          tokenUsage: {
            total: {
              totalTokens: 150,
              inputTokens: 100,
              cachedInputTokens: 40,
              cacheWriteInputTokens: 0,
              outputTokens: 50,
              reasoningOutputTokens: 7,
            },
            last: { totalTokens: 120 },
            modelContextWindow: 258_400,
          },
        }),
        completed(),
      );
      expect(agent.takeEvents()).toEqual([
        { kind: 'turn-started', prompt },
        { kind: 'message', text: 'Hel', delta: true },
        { kind: 'message', text: 'Hello', delta: false },
        {
          kind: 'tool-started',
          toolId: 'call_1',
          tool: 'Bash',
          title: null,
          input: '{"command":"make","cwd":"/work"}',
        },
        { kind: 'tool-finished', toolId: 'call_1', outcome: 'ok', output: 'ok\n', durationMs: 12 },
        {
          kind: 'usage',
          usage: {
            scope: 'thread',
            inputTokens: 60,
            cacheReadTokens: 40,
            cacheWriteTokens: 0,
            outputTokens: 50,
            reasoningTokens: 7,
            contextWindow: 258_400,
            contextUsed: 120,
            costUsd: null,
          },
        },
        { kind: 'turn-finished', outcome: 'completed', stopReason: 'completed', fault: null },
      ]);
    }
  });

  test('of a sub-agent is told by its thread, and does not end the turn', () => {
    const agent = atWork();
    agent.receive(
      note('item/completed', { threadId: 'sub', item: { type: 'agentMessage', id: 'm', text: 'found it' } }),
      note('turn/completed', { threadId: 'sub', turn: turn({ id: 'other', status: 'completed' }) }),
    );
    expect(agent.takeEvents()).toEqual([
      { kind: 'subagent-started', agentId: 'sub', title: null },
      { kind: 'message', text: 'found it', delta: false, agentId: 'sub' },
      { kind: 'subagent-finished', agentId: 'sub' },
    ]);
    expect(agent.driver.isTurnOpen).toBe(true);
  });

  test('ends with the process, whatever is open', () => {
    const agent = atWork();
    agent.receive(command('item/started'), approval(0));
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

describe('a request', () => {
  test.each([
    ['accept', 'accept', 'approved'],
    ['acceptForSession', 'acceptForSession', 'approved'],
    [
      'acceptWithExecpolicyAmendment',
      { acceptWithExecpolicyAmendment: { execpolicy_amendment: ['make'] } },
      'approved',
    ],
    ['decline', 'decline', 'refused'],
    ['cancel', 'cancel', 'refused'],
  ])('for a command is answered by %s', (optionId, decision, outcome) => {
    const agent = atWork();
    agent.receive(command('item/started'), approval(0));
    expect(agent.driver.answer('0', { kind: 'option', optionId })).toBe(true);
    expect(agent.driver.answer('0', { kind: 'option', optionId })).toBe(false);
    expect(agent.takeWritten()).toEqual([{ jsonrpc: '2.0', id: 0, result: { decision } }]);
    expect(agent.takeEvents().at(-1)).toMatchObject({ kind: 'interaction-settled', outcome });
  });

  test('is refused by declining, and the tool with it', () => {
    const agent = atWork();
    agent.receive(command('item/started'), approval('x'));
    agent.driver.answer('x', { kind: 'refuse', message: 'no' });
    expect(agent.takeWritten()).toEqual([{ jsonrpc: '2.0', id: 'x', result: { decision: 'decline' } }]);
    agent.receive(command('item/completed', { status: 'declined' }));
    expect(agent.takeEvents().at(-1)).toMatchObject({ kind: 'tool-finished', outcome: 'refused' });
  });

  test('for permissions is given what it asked for, or nothing', () => {
    const agent = atWork();
    const ask = (id: number) => ({
      id,
      method: 'item/permissions/requestApproval',
      params: {
        threadId: THREAD,
        turnId: TURN,
        itemId: 'c',
        reason: null,
        permissions: { network: { enabled: true } },
      },
    });
    agent.receive(ask(1), ask(2));
    agent.driver.answer('1', { kind: 'option', optionId: 'grant' });
    agent.driver.answer('2', { kind: 'refuse', message: null });
    expect(agent.takeWritten()).toMatchObject([
      { id: 1, result: { permissions: { network: { enabled: true } }, scope: 'turn' } },
      { id: 2, result: { permissions: {}, scope: 'turn' } },
    ]);
  });

  test('of questions is answered one by one, by label or by text', () => {
    const agent = atWork();
    const options = [{ label: 'Red', description: 'warm' }];
    agent.receive({
      id: 5,
      method: 'item/tool/requestUserInput',
      params: {
        threadId: THREAD,
        turnId: TURN,
        itemId: 'c',
        questions: [
          { id: 'colour', header: 'h', question: 'Which colour?', isOther: false, isSecret: false, options },
          { id: 'name', header: 'h', question: 'Which name?', isOther: true, isSecret: false, options: null },
        ],
      },
    });
    expect(agent.driver.answer('5', { kind: 'text', text: 'Green' })).toBe(false);
    expect(agent.driver.answer('5', { kind: 'option', optionId: 'option-1' })).toBe(true);
    agent.crash();
    expect(agent.driver.answer('5/2', { kind: 'text', text: 'Ada' })).toBe(true);
    expect(agent.takeWritten()).toEqual([
      {
        jsonrpc: '2.0',
        id: 5,
        result: { answers: { colour: { answers: ['Red'] }, name: { answers: ['Ada'] } } },
      },
    ]);
  });

  test('of an MCP server is a yes or no when it needs nothing else', () => {
    const agent = atWork();
    const ask = (id: number, required: string[]) => ({
      id,
      method: 'mcpServer/elicitation/request',
      params: {
        threadId: THREAD,
        turnId: TURN,
        serverName: 's',
        mode: 'form',
        message: 'Go on?',
        requestedSchema: { required },
      },
    });
    agent.receive(ask(1, []), ask(2, ['name']));
    expect(agent.driver.answer('2', { kind: 'option', optionId: 'accept' })).toBe(false);
    agent.driver.answer('2', { kind: 'option', optionId: 'decline' });
    agent.driver.answer('1', { kind: 'option', optionId: 'accept' });
    expect(agent.takeWritten()).toMatchObject([
      { id: 2, result: { action: 'decline', content: null } },
      { id: 1, result: { action: 'accept', content: {} } },
    ]);
  });

  test('settled elsewhere is withdrawn', () => {
    const agent = atWork();
    agent.receive(approval(0));
    agent.takeEvents();
    agent.receive(note('serverRequest/resolved', { requestId: 0 }));
    expect(agent.takeEvents()).toEqual([
      { kind: 'interaction-settled', requestId: '0', outcome: 'withdrawn' },
    ]);
  });

  test('that is not known, or not understood, is answered at once', () => {
    const agent = atWork();
    agent.receive({ id: 8, method: 'attestation/generate', params: {} }, approval(9, { itemId: 4 }));
    expect(agent.takeWritten()).toMatchObject([
      { id: 8, error: { code: -32601 } },
      { id: 9, error: { code: -32602 } },
    ]);
  });
});

describe('a turn that does not go well', () => {
  test('is interrupted as soon as it has an id', () => {
    const agent = opened();
    agent.driver.prompt('long');
    agent.takeWritten();
    agent.driver.interrupt();
    expect(agent.takeWritten()).toEqual([]);
    agent.crash();
    agent.receive(started);
    agent.driver.interrupt();
    expect(agent.takeWritten()).toMatchObject([
      { method: 'turn/interrupt', params: { threadId: THREAD, turnId: TURN } },
    ]);
    agent.receive(completed({ status: 'interrupted' }));
    expect(agent.takeEvents().at(-1)).toMatchObject({ kind: 'turn-finished', outcome: 'interrupted' });
  });

  test('tries again by itself, which is a notice', () => {
    const agent = atWork();
    agent.receive(
      note('error', { error: { message: 'Reconnecting... 1/5', codexErrorInfo: null }, willRetry: true }),
    );
    expect(agent.takeKinds()).toEqual(['notice']);
  });

  test.each([
    ['usageLimitExceeded', 'limit', { authority: 'provider-quota', reasonKind: 'usageLimitExceeded' }],
    [{ httpConnectionFailed: { httpStatusCode: 429 } }, 'limit', { authority: 'provider-quota' }],
    [{ httpConnectionFailed: { httpStatusCode: 401 } }, 'failed', { reasonKind: 'login-required' }],
    ['unauthorized', 'failed', { reasonKind: 'login-required' }],
    ['cyberPolicy', 'refused', { authority: 'provider-refusal', reasonKind: 'cyberPolicy' }],
    ['tooManyDenials', 'failed', { authority: 'provider-classifier' }],
    ['contextWindowExceeded', 'limit', null],
    ['serverOverloaded', 'failed', null],
  ])('with %j ends as %s', (codexErrorInfo, outcome, blocked) => {
    const agent = atWork();
    const error = {
      message: 'It is over. Try again in 2 hours 30 minutes.',
      codexErrorInfo,
      additionalDetails: null,
    };
    agent.receive(
      note('error', { error, willRetry: false }),
      completed({ status: 'failed', error: codexErrorInfo === 'unauthorized' ? null : error }),
    );
    const events = agent.takeEvents();
    expect(events.at(-1)).toMatchObject({ kind: 'turn-finished', outcome, fault: error.message });
    const told = events.filter(({ kind }) => kind === 'blocked');
    if (blocked === null) expect(told).toEqual([]);
    else expect(told).toMatchObject([blocked]);
    if (outcome === 'limit' && blocked !== null) {
      expect(events[0]).toMatchObject({ kind: 'quota', isFinal: true, resetsAt: '2026-03-01T14:30:00.000Z' });
    }
  });

  test('was refused at its start', () => {
    const agent = opened();
    agent.takeEvents();
    agent.driver.prompt('go');
    agent.receive({ id: 4, error: { code: -32603, message: 'thread not loaded' } });
    expect(agent.takeEvents().at(-1)).toMatchObject({
      kind: 'turn-finished',
      outcome: 'failed',
      fault: 'thread not loaded',
    });
  });

  test('had a tool denied by the review', () => {
    const agent = atWork();
    agent.receive(
      command('item/started'),
      note('item/autoApprovalReview/completed', {
        targetItemId: 'call_1',
        review: { status: 'denied', rationale: 'It is too dangerous.' },
        action: { type: 'command' },
      }),
    );
    expect(agent.takeEvents().at(-1)).toMatchObject({
      kind: 'blocked',
      authority: 'provider-classifier',
      tool: 'Bash',
      reason: 'It is too dangerous.',
    });
  });
});

test('after a crash an open turn and an open request go on, and the request is answered once', () => {
  const agent = atWork();
  agent.receive(command('item/started'), approval(0));
  agent.crash();
  agent.takeEvents();
  agent.receive(approval(0));
  expect(agent.takeEvents()).toEqual([]);
  expect(agent.driver.answer('0', { kind: 'option', optionId: 'accept' })).toBe(true);
  agent.crash();
  expect(agent.driver.answer('0', { kind: 'option', optionId: 'accept' })).toBe(false);
  agent.receive(command('item/completed', { status: 'completed' }), completed());
  expect(agent.takeKinds()).toEqual(['interaction-settled', 'tool-finished', 'turn-finished']);
  expect(agent.driver.prompt('next')).toBe(true);
  expect(agent.takeWritten().at(-1)).toMatchObject({ id: 5, method: 'turn/start' });
});

test('says a chosen model with the next turn', () => {
  const agent = opened();
  agent.takeEvents();
  expect(agent.driver.choose('model', 'gpt-a')).toBe(true);
  expect(agent.driver.choose('colour', 'red')).toBe(false);
  expect(agent.takeEvents()).toMatchObject([{ kind: 'choices', choice: 'model', current: 'gpt-a' }]);
  agent.crash();
  agent.driver.prompt('go');
  expect(agent.takeWritten().at(-1)).toMatchObject({ method: 'turn/start', params: { model: 'gpt-a' } });
});

test('withstands anything that a process may write', () => {
  const lines = [
    reply(1, { userAgent: 'x/0.171.0' }),
    reply(2, { thread: { id: THREAD }, model: 'm' }),
    reply(4, { turn: turn() }),
    started,
    completed(),
    completed({ status: 'failed', error: { message: 'm', codexErrorInfo: 'other' } }),
    note('item/agentMessage/delta', { delta: 'x' }),
    note('item/completed', { item: { type: 'agentMessage', id: 'm', text: 'found it' } }),
    note('item/completed', {
      threadId: 'sub',
      item: { type: 'reasoning', id: 'm', summary: ['s'], content: [] },
    }),
    command('item/started'),
    command('item/completed', { status: 'completed' }),
    approval(1),
    approval('y'),
  ].map((line) => JSON.stringify(line));
  for (const seed of [1, 2]) batter(codexAppServer, lines, seed, 150);
});

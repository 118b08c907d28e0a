import { describe, expect, test } from 'vitest';
import { batter, DriverForTest } from '../driver-for-test.ts';
import { claudeStreamJson } from './stream-json.ts';

const SESSION = 'f96e3b34-1e4f-42b5-99de-742502feb941';
const MODEL = 'claude-opus-4-8[1m]';

const init = {
  type: 'system',
  subtype: 'init',
  cwd: '/work',
  session_id: SESSION,
  tools: ['Bash'],
  model: MODEL,
  permissionMode: 'default',
  claude_code_version: '2.1.197',
};
const usage = {
  input_tokens: 100,
  cache_creation_input_tokens: 20,
  cache_read_input_tokens: 30,
  output_tokens: 5,
};
const assistant = (...content: object[]) => ({
  type: 'assistant',
  message: { id: 'msg_1', model: MODEL, role: 'assistant', content, stop_reason: null, usage },
  parent_tool_use_id: null,
  session_id: SESSION,
});
const said = (text: string) => assistant({ type: 'text', text });
const toolUse = (id: string, name = 'Bash', input: object = { command: 'make' }) =>
  assistant({ type: 'tool_use', id, name, input });
const toolResult = (id: string, content: unknown, isError = false, detail: object = {}) => ({
  type: 'user',
  message: {
    role: 'user',
    content: [{ tool_use_id: id, type: 'tool_result', content, is_error: isError }],
  },
  parent_tool_use_id: null,
  session_id: SESSION,
  tool_use_result: detail,
});
const delta = (text: string) => ({
  type: 'stream_event',
  event: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
  session_id: SESSION,
  parent_tool_use_id: null,
});
const result = (fields: object = {}) => ({
  type: 'result',
  subtype: 'success',
  is_error: false,
  api_error_status: null,
  result: 'done',
  stop_reason: 'end_turn',
  session_id: SESSION,
  total_cost_usd: 0.25,
  usage,
  modelUsage: { [MODEL]: { contextWindow: 1_000_000 } },
  permission_denials: [],
  terminal_reason: 'completed',
  ...fields,
});
const canUseTool = (requestId: string, fields: object = {}) => ({
  type: 'control_request',
  request_id: requestId,
  request: {
    subtype: 'can_use_tool',
    tool_name: 'Bash',
    display_name: 'Bash',
    input: { command: 'make' },
    description: 'Build it',
    permission_suggestions: [
      {
        type: 'addRules',
        rules: [{ toolName: 'Bash', ruleContent: 'make:*' }],
        behavior: 'allow',
        destination: 'localSettings',
      },
    ],
    tool_use_id: 'toolu_1',
    ...fields,
  },
});

function opened(): DriverForTest {
  const agent = new DriverForTest(claudeStreamJson);
  agent.driver.open({ directory: '/work', resume: null });
  agent.receive({
    type: 'control_response',
    response: {
      subtype: 'success',
      request_id: 'roost-1',
      response: { commands: [], models: [{ value: 'opus', displayName: 'Opus' }], pid: 1 },
    },
  });
  return agent;
}

function atWork(prompt = 'build it'): DriverForTest {
  const agent = opened();
  expect(agent.driver.prompt(prompt)).toBe(true);
  agent.receive(init);
  agent.takeEvents();
  agent.takeWritten();
  return agent;
}

describe('a conversation', () => {
  test('takes a prompt when the process has answered, and not before', () => {
    const agent = new DriverForTest(claudeStreamJson);
    agent.driver.open({ directory: '/work', resume: null });
    expect(agent.takeWritten()).toEqual([
      { type: 'control_request', request_id: 'roost-1', request: { subtype: 'initialize' } },
    ]);
    expect(agent.driver.prompt('too early')).toBe(false);
    expect(agent.takeWritten()).toEqual([]);
    expect(opened().driver.takesPrompt).toBe(true);
  });

  test('is a turn from the prompt to the result, with pieces, a whole message and what it cost', () => {
    const agent = opened();
    expect(agent.takeKinds()).toEqual(['session-started', 'choices']);
    agent.takeWritten();
    agent.driver.prompt('say hi');
    expect(agent.driver.prompt('and more')).toBe(false);
    expect(agent.takeWritten()).toEqual([
      { type: 'user', message: { role: 'user', content: 'say hi' }, parent_tool_use_id: null },
    ]);
    agent.receive(
      init,
      {
        type: 'stream_event',
        event: { type: 'message_start', message: { model: 'claude-opus-4-8', usage } },
        parent_tool_use_id: null,
      },
      delta('Hel'),
      delta('lo'),
      said('Hello'),
      result(),
    );
    expect(agent.takeEvents().filter(({ kind }) => kind !== 'choices')).toEqual([
      { kind: 'turn-started', prompt: 'say hi' },
      { kind: 'session-started', providerSessionId: SESSION, model: MODEL, version: '2.1.197' },
      { kind: 'message', text: 'Hel', delta: true },
      { kind: 'message', text: 'lo', delta: true },
      { kind: 'message', text: 'Hello', delta: false },
      {
        kind: 'usage',
        usage: {
          scope: 'turn',
          inputTokens: 100,
          cacheReadTokens: 30,
          cacheWriteTokens: 20,
          outputTokens: 5,
          reasoningTokens: null,
          contextWindow: 1_000_000,
          contextUsed: 155,
          costUsd: 0.25,
        },
      },
      { kind: 'turn-finished', outcome: 'completed', stopReason: 'end_turn', fault: null },
    ]);
  });

  test('tells the start again only when it is another one, and the money of each turn', () => {
    const agent = atWork();
    agent.receive(result());
    agent.takeEvents();
    agent.driver.prompt('again');
    agent.receive(init, result({ total_cost_usd: 0.75 }));
    const events = agent.takeEvents();
    expect(events.map(({ kind }) => kind)).toEqual(['turn-started', 'usage', 'turn-finished']);
    expect(events).toContainEqual({ kind: 'usage', usage: expect.objectContaining({ costUsd: 0.5 }) });
    agent.driver.prompt('/clear');
    agent.receive({ ...init, session_id: '11111111-1111-4111-8111-111111111111' });
    expect(agent.takeKinds()).toContain('session-started');
  });

  test('may be begun by the agent, when a task of it is done', () => {
    const agent = atWork();
    agent.receive(result());
    agent.takeEvents();
    agent.receive(init, said('The build is done.'));
    expect(agent.takeEvents()).toEqual([
      { kind: 'turn-started', prompt: null },
      { kind: 'message', text: 'The build is done.', delta: false },
    ]);
    expect(agent.driver.takesPrompt).toBe(false);
  });

  test('ends with the process, whatever is open', () => {
    const agent = atWork();
    agent.receive(toolUse('toolu_1'), canUseTool('r1'));
    agent.takeEvents();
    agent.driver.closed('killed by signal 9');
    expect(agent.takeEvents()).toEqual([
      { kind: 'interaction-settled', requestId: 'r1', outcome: 'withdrawn' },
      { kind: 'tool-finished', toolId: 'toolu_1', outcome: 'interrupted', output: '', durationMs: null },
      { kind: 'turn-finished', outcome: 'failed', stopReason: null, fault: 'killed by signal 9' },
      { kind: 'session-ended', fault: 'killed by signal 9' },
    ]);
    agent.receive(said('late'));
    expect(agent.driver.answer('r1', { kind: 'refuse', message: null })).toBe(false);
    expect(agent.takeEvents()).toEqual([]);
  });

  test('of which nothing is known is told as the end of the session', () => {
    const agent = new DriverForTest(claudeStreamJson);
    agent.driver.open({ directory: '/work', resume: SESSION });
    agent.receive(
      result({
        subtype: 'error_during_execution',
        is_error: true,
        errors: [`No conversation found with session ID: ${SESSION}`],
        result: undefined,
      }),
    );
    expect(agent.takeEvents()).toEqual([
      { kind: 'session-ended', fault: `No conversation found with session ID: ${SESSION}` },
    ]);
  });
});

describe('a tool', () => {
  test('is asked for, allowed once, and gets its input back', () => {
    const agent = atWork();
    agent.receive(toolUse('toolu_1'), canUseTool('r1'));
    const [, asked] = agent.takeEvents();
    expect(asked).toEqual({
      kind: 'interaction-requested',
      requestId: 'r1',
      interaction: 'approval',
      tool: 'Bash',
      toolId: 'toolu_1',
      title: 'Build it',
      detail: 'make',
      options: [
        { optionId: 'allow', label: 'Allow once', kind: 'allow-once' },
        { optionId: 'allow-always', label: 'Allow, and always allow Bash(make:*)', kind: 'allow-always' },
        { optionId: 'reject', label: 'Reject', kind: 'reject-once' },
      ],
    });
    expect(agent.driver.answer('r1', { kind: 'option', optionId: 'allow' })).toBe(true);
    expect(agent.driver.answer('r1', { kind: 'option', optionId: 'allow' })).toBe(false);
    expect(agent.takeWritten()).toEqual([
      {
        type: 'control_response',
        response: {
          subtype: 'success',
          request_id: 'r1',
          response: { behavior: 'allow', updatedInput: { command: 'make' } },
        },
      },
    ]);
    agent.receive(toolResult('toolu_1', [{ type: 'text', text: 'ok\u001b[0m' }]));
    expect(agent.takeEvents()).toEqual([
      { kind: 'interaction-settled', requestId: 'r1', outcome: 'approved' },
      { kind: 'tool-finished', toolId: 'toolu_1', outcome: 'ok', output: 'ok', durationMs: null },
    ]);
  });

  test('is allowed for ever with the rules that the agent suggested, as they came', () => {
    const agent = atWork();
    const ask = canUseTool('r1');
    agent.receive(ask);
    agent.driver.answer('r1', { kind: 'option', optionId: 'allow-always' });
    expect(agent.takeWritten()).toMatchObject([
      { response: { response: { updatedPermissions: ask.request.permission_suggestions } } },
    ]);
  });

  test('with a long input is allowed as it was', () => {
    const agent = atWork();
    agent.receive(canUseTool('r1', { input: { file_path: '/a', content: 'x'.repeat(40_000) } }));
    agent.driver.answer('r1', { kind: 'option', optionId: 'allow' });
    expect(agent.takeWritten()).toMatchObject([{ response: { response: { updatedInput: {} } } }]);
  });

  test('refused by a person is refused, and no block of the provider', () => {
    const agent = atWork();
    agent.receive(toolUse('toolu_1'), canUseTool('r1'));
    agent.driver.answer('r1', { kind: 'refuse', message: 'not now' });
    expect(agent.takeWritten()).toMatchObject([
      { response: { response: { behavior: 'deny', message: 'not now' } } },
    ]);
    agent.receive(
      toolResult('toolu_1', 'not now', true),
      result({ permission_denials: [{ tool_name: 'Bash', tool_use_id: 'toolu_1', tool_input: {} }] }),
    );
    const events = agent.takeEvents();
    expect(events).toContainEqual(expect.objectContaining({ kind: 'tool-finished', outcome: 'refused' }));
    expect(events.map(({ kind }) => kind)).not.toContain('blocked');
  });

  test('refused without asking is a block by what decided', () => {
    const agent = atWork();
    agent.receive(toolUse('toolu_1'), {
      type: 'system',
      subtype: 'permission_denied',
      tool_name: 'Bash',
      tool_use_id: 'toolu_1',
      decision_reason_type: 'classifier',
      decision_reason: 'It deletes too much.',
      message: 'Denied.',
    });
    agent.receive(toolResult('toolu_1', 'Denied.', true));
    agent.receive(
      result({ permission_denials: [{ tool_name: 'Bash', tool_use_id: 'toolu_1', tool_input: {} }] }),
    );
    const events = agent.takeEvents();
    expect(events.filter(({ kind }) => kind === 'blocked')).toEqual([
      {
        kind: 'blocked',
        authority: 'provider-classifier',
        toolId: 'toolu_1',
        tool: 'Bash',
        reason: 'It deletes too much.',
        reasonKind: 'classifier',
        help: null,
      },
    ]);
    expect(events).toContainEqual(expect.objectContaining({ kind: 'tool-finished', outcome: 'refused' }));
  });

  test('that only the result tells to be refused is a block by a rule', () => {
    const agent = atWork();
    agent.receive(
      result({ permission_denials: [{ tool_name: 'Write', tool_use_id: 'toolu_9', tool_input: {} }] }),
    );
    expect(agent.takeEvents()[0]).toMatchObject({
      kind: 'blocked',
      authority: 'provider-permission-rule',
      tool: 'Write',
      toolId: 'toolu_9',
    });
  });

  test('that fails, or says that it was blocked, is no block', () => {
    const agent = atWork();
    agent.receive(toolUse('toolu_1'), toolResult('toolu_1', 'blocked by a permission rule', true), result());
    expect(agent.takeKinds()).not.toContain('blocked');
  });

  test('of a sub-agent carries its id, and outlives the turn when it works in the background', () => {
    const agent = atWork();
    agent.receive(
      toolUse('toolu_1', 'Agent', { description: 'Look' }),
      {
        type: 'system',
        subtype: 'task_started',
        task_id: 't1',
        tool_use_id: 'toolu_1',
        description: 'Look around',
        subagent_type: 'general-purpose',
      },
      toolResult('toolu_1', 'launched', false, { status: 'async_launched' }),
      { ...toolUse('toolu_2'), parent_tool_use_id: 'toolu_1' },
      canUseTool('r2', { tool_use_id: 'toolu_2', agent_id: 'a1' }),
      result(),
    );
    expect(agent.takeEvents()).toContainEqual(
      expect.objectContaining({ kind: 'tool-started', toolId: 'toolu_2', agentId: 'toolu_1' }),
    );
    expect(agent.driver.isTurnOpen).toBe(false);
    expect(agent.driver.openRequests).toEqual(['r2']);
    agent.receive({ type: 'system', subtype: 'task_notification', task_id: 't1', tool_use_id: 'toolu_1' });
    expect(agent.takeKinds()).toEqual(['subagent-finished']);
  });
});

describe('a question', () => {
  const ask = canUseTool('r1', {
    tool_name: 'AskUserQuestion',
    input: {
      questions: [
        {
          question: 'Which colour?',
          header: 'Colour',
          options: [
            { label: 'Red', description: 'warm' },
            { label: 'Blue', description: 'cold' },
          ],
          multiSelect: false,
        },
        { question: 'Which size?', header: 'Size', options: [{ label: 'S' }, { label: 'L' }] },
      ],
    },
  });

  test('is asked one after the other, and all are answered at once', () => {
    const agent = atWork();
    agent.receive(ask);
    expect(agent.takeEvents()).toMatchObject([
      {
        kind: 'interaction-requested',
        requestId: 'r1',
        interaction: 'question',
        title: 'Which colour?',
        options: [{ label: 'Red' }, { label: 'Blue' }],
      },
    ]);
    expect(agent.driver.answer('r1', { kind: 'option', optionId: 'option-9' })).toBe(false);
    expect(agent.driver.answer('r1', { kind: 'option', optionId: 'option-2' })).toBe(true);
    agent.crash();
    expect(agent.takeWritten()).toEqual([]);
    expect(agent.driver.openRequests).toEqual(['r1/2']);
    expect(agent.driver.answer('r1/2', { kind: 'text', text: 'XXL' })).toBe(true);
    expect(agent.takeWritten()).toMatchObject([
      {
        response: {
          request_id: 'r1',
          response: {
            behavior: 'allow',
            updatedInput: {
              questions: [{ header: 'Colour' }, {}],
              answers: { 'Which colour?': 'Blue', 'Which size?': 'XXL' },
            },
          },
        },
      },
    ]);
  });

  test('is refused as a whole', () => {
    const agent = atWork();
    agent.receive(ask);
    agent.driver.answer('r1', { kind: 'option', optionId: 'option-1' });
    agent.driver.answer('r1/2', { kind: 'refuse', message: null });
    expect(agent.takeWritten()).toMatchObject([
      { response: { request_id: 'r1', response: { behavior: 'deny' } } },
    ]);
  });

  test('is withdrawn by the agent', () => {
    const agent = atWork();
    agent.receive(ask);
    agent.driver.answer('r1', { kind: 'option', optionId: 'option-1' });
    agent.takeEvents();
    agent.receive({ type: 'control_cancel_request', request_id: 'r1' });
    expect(agent.takeEvents()).toEqual([
      { kind: 'interaction-settled', requestId: 'r1/2', outcome: 'withdrawn' },
    ]);
  });
});

describe('a turn that does not go well', () => {
  test('is interrupted once, and what it refused by that is no block', () => {
    const agent = atWork();
    agent.receive(toolUse('toolu_1'), canUseTool('r1'));
    agent.driver.interrupt();
    agent.driver.interrupt();
    expect(agent.takeWritten()).toEqual([
      { type: 'control_request', request_id: 'roost-2', request: { subtype: 'interrupt' } },
    ]);
    agent.receive(
      { type: 'control_cancel_request', request_id: 'r1' },
      toolResult('toolu_1', 'rejected', true),
      result({
        subtype: 'error_during_execution',
        is_error: true,
        terminal_reason: 'aborted_tools',
        permission_denials: [{ tool_name: 'Bash', tool_use_id: 'toolu_1', tool_input: {} }],
      }),
    );
    const events = agent.takeEvents();
    expect(events.map(({ kind }) => kind)).not.toContain('blocked');
    expect(events.at(-1)).toEqual({
      kind: 'turn-finished',
      outcome: 'interrupted',
      stopReason: 'aborted_tools',
      fault: null,
    });
    agent.driver.interrupt();
    expect(agent.takeWritten()).toEqual([]);
  });

  test('is a limit when the account has reached one, though its result says success', () => {
    const agent = atWork();
    agent.receive(
      {
        type: 'rate_limit_event',
        rate_limit_info: { status: 'rejected', resetsAt: 1772380800, rateLimitType: 'five_hour' },
      },
      {
        type: 'system',
        subtype: 'api_retry',
        attempt: 1,
        max_retries: 10,
        retry_delay_ms: 500,
        error_status: 429,
        error: 'rate_limit',
      },
      { ...said('API Error: Request rejected (429)'), error: 'rate_limit' },
      result({ is_error: true, api_error_status: 429, result: 'API Error: Request rejected (429)' }),
    );
    const events = agent.takeEvents();
    const resetsAt = '2026-03-01T16:00:00.000Z';
    expect(events.filter(({ kind }) => kind !== 'usage')).toMatchObject([
      { kind: 'quota', code: 'five_hour', resetsAt, isFinal: false },
      { kind: 'quota', code: 'rate_limit', resetsAt, isFinal: false },
      { kind: 'quota', code: 'rate_limit', resetsAt, isFinal: true },
      { kind: 'blocked', authority: 'provider-quota', tool: 'Session' },
      { kind: 'turn-finished', outcome: 'limit', fault: 'API Error: Request rejected (429)' },
    ]);
  });

  test('wants a login when the service does not know the account', () => {
    const agent = atWork();
    agent.receive(
      { ...said('Invalid API key'), error: 'authentication_failed' },
      result({ is_error: true, api_error_status: 401, result: 'Invalid API key' }),
    );
    expect(agent.takeEvents()).toMatchObject([
      { kind: 'usage' },
      { kind: 'blocked', reasonKind: 'login-required', reason: 'Invalid API key' },
      { kind: 'turn-finished', outcome: 'failed', fault: 'Invalid API key' },
    ]);
  });

  test('is a refusal when the model would not go on', () => {
    const agent = atWork();
    agent.receive(result({ stop_reason: 'refusal', result: 'I will not.' }));
    expect(agent.takeEvents()).toMatchObject([
      { kind: 'usage' },
      { kind: 'blocked', authority: 'provider-refusal', reasonKind: 'refusal' },
      { kind: 'turn-finished', outcome: 'refused' },
    ]);
  });

  test.each([
    ['error_max_turns', 'limit'],
    ['error_during_execution', 'failed'],
  ])('%s is %s', (subtype, outcome) => {
    const agent = atWork();
    agent.receive(result({ subtype, is_error: true, errors: ['so it is'], result: undefined }));
    expect(agent.takeEvents().at(-1)).toMatchObject({ kind: 'turn-finished', outcome, fault: 'so it is' });
  });
});

describe('after a crash', () => {
  test('an open turn and an open permission go on, and the permission is answered once', () => {
    const agent = atWork();
    agent.receive(toolUse('toolu_1'), canUseTool('r1'));
    agent.crash();
    expect(agent.driver.isTurnOpen).toBe(true);
    expect(agent.driver.openRequests).toEqual(['r1']);
    // The same line again, from before the place that was stored.
    agent.takeEvents();
    agent.receive(canUseTool('r1'));
    expect(agent.takeEvents()).toEqual([]);
    expect(agent.driver.answer('r1', { kind: 'option', optionId: 'allow' })).toBe(true);
    agent.crash();
    expect(agent.driver.answer('r1', { kind: 'option', optionId: 'allow' })).toBe(false);
    expect(agent.takeWritten()).toHaveLength(1);
    agent.receive(toolResult('toolu_1', 'ok'), result());
    expect(agent.takeKinds()).toEqual(['interaction-settled', 'tool-finished', 'usage', 'turn-finished']);
  });

  test('a state of something else is refused', () => {
    const port = { emit: () => undefined, write: () => undefined, now: () => 0 };
    for (const state of [null, {}, { protocol: 'acp' }, 'x', [1]]) {
      expect(claudeStreamJson.restore(port, state)).toBeNull();
    }
  });
});

test('chooses a mode and a model, and tells when it is so', () => {
  const agent = atWork();
  expect(agent.driver.choose('permission-mode', 'plan')).toBe(true);
  expect(agent.driver.choose('permission-mode', 'nonsense')).toBe(false);
  expect(agent.driver.choose('colour', 'red')).toBe(false);
  expect(agent.takeWritten()).toEqual([
    {
      type: 'control_request',
      request_id: 'roost-2',
      request: { subtype: 'set_permission_mode', mode: 'plan' },
    },
  ]);
  const answered = { subtype: 'success', request_id: 'roost-2', response: { mode: 'plan' } };
  agent.receive({ type: 'control_response', response: answered });
  expect(agent.takeEvents()).toMatchObject([{ kind: 'choices', choice: 'permission-mode', current: 'plan' }]);
});

test('answers what it does not do, so that nothing waits for ever', () => {
  const agent = atWork();
  const ask = (request_id: string, request: object) => ({ type: 'control_request', request_id, request });
  agent.receive(
    ask('a', { subtype: 'request_user_dialog', dialog_kind: 'x', payload: {} }),
    ask('b', { subtype: 'elicitation', mcp_server_name: 's', message: 'm' }),
    ask('c', { subtype: 'hook_callback' }),
    ask('d', { subtype: 'can_use_tool' }),
  );
  expect(agent.takeWritten()).toMatchObject([
    { response: { request_id: 'a', response: { behavior: 'cancelled' } } },
    { response: { request_id: 'b', response: { action: 'decline' } } },
    { response: { request_id: 'c', subtype: 'error' } },
    { response: { request_id: 'd', subtype: 'error' } },
  ]);
});

test('tells the first lines that it does not understand', () => {
  const agent = atWork();
  for (let at = 0; at < 100; at += 1) agent.receive(`npm WARN ${at}`);
  expect(agent.takeKinds()).toEqual(Array.from({ length: 8 }, () => 'notice'));
  agent.receive({ type: 'something_new', of: 'tomorrow' });
  expect(agent.takeEvents()).toEqual([]);
});

test('puts the halves of a character together', () => {
  const agent = atWork();
  agent.receive(delta('a\ud83d'));
  agent.crash();
  agent.receive(delta('\udc4b'));
  expect(agent.takeEvents()).toEqual([
    { kind: 'message', text: 'a', delta: true },
    { kind: 'message', text: '👋', delta: true },
  ]);
});

test('withstands anything that a process may write', () => {
  const lines = [
    init,
    delta('x'),
    said('hello'),
    toolUse('toolu_1'),
    { ...toolUse('toolu_2'), parent_tool_use_id: 'toolu_1' },
    toolResult('toolu_1', 'ok'),
    canUseTool('r1'),
    canUseTool('q1', {
      tool_name: 'AskUserQuestion',
      input: { questions: [{ question: 'a?', header: 'a', options: [{ label: 'b' }] }] },
    }),
    result(),
    { type: 'system', subtype: 'task_started', task_id: 't1', subagent_type: 'x', description: 'y' },
    {
      type: 'control_response',
      response: { subtype: 'success', request_id: 'roost-1', response: { models: [] } },
    },
  ].map((line) => JSON.stringify(line));
  for (const seed of [1, 2]) batter(claudeStreamJson, lines, seed, 150);
});

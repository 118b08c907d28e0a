import { AgentEvent, AGENT_SENTENCE_BYTES_MAX } from '@roost/protocol';
import { describe, expect, test } from 'vitest';
import { byteLength } from './agent-text.ts';
import {
  blockedByQuota,
  blockedEvent,
  blockedHostRequest,
  blockedToolCall,
  blockedTurn,
  isQuota,
  splitDenial,
} from './blocked.ts';
import { resetTimeOf, resetTimeOfNumber } from './reset-time.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

describe('a request to the host that is refused', () => {
  test('names what it could have done, who refused it, and why', () => {
    const reason = 'blocked by dangerous-command gate: rule=filesystem-wipe, argument=rm -rf /';
    expect(blockedHostRequest('terminal/create', 'host-policy', reason)).toEqual({
      kind: 'blocked',
      authority: 'host-policy',
      toolId: null,
      tool: 'Write',
      reason,
      reasonKind: null,
      help: null,
    });
  });

  test.each([
    ['operator', 'declined by the operator'],
    ['host-deadline', 'denied by host policy after the operator deadline expired'],
    ['host-policy', 'denied by host policy'],
  ] as const)('without a reason says by whom: %s', (authority, reason) => {
    expect(blockedHostRequest('fs/write_text_file', authority, null).reason).toBe(reason);
  });

  test.each(['x', 'é', '👋'])('has a reason that fits, cut on the border of a character: %s', (unit) => {
    const event = blockedHostRequest(
      'terminal/create',
      'host-policy',
      unit.repeat(AGENT_SENTENCE_BYTES_MAX + 500),
    );
    expect(byteLength(event.reason)).toBeLessThanOrEqual(AGENT_SENTENCE_BYTES_MAX);
    expect(event.reason.isWellFormed()).toBe(true);
    expect(AgentEvent.safeParse(event).success).toBe(true);
  });
});

describe('a tool call that was not executed', () => {
  const call = {
    toolId: 'toolu_9',
    tool: null,
    output: 'Denied by X. Reason: Too risky. If it must be, add a Bash rule.',
  };

  test('by a rule is a block, with its reason and what helps', () => {
    expect(blockedToolCall({ ...call, nonExecutionKind: 'permission-rule' })).toEqual({
      kind: 'blocked',
      authority: 'provider-permission-rule',
      toolId: 'toolu_9',
      tool: 'Bash',
      reason: 'Too risky',
      reasonKind: 'permission-rule',
      help: 'If it must be, add a Bash rule.',
    });
  });

  test.each([null, 'interrupted', 'cancelled', '__proto__', 'toString', 'of tomorrow'])(
    'for %s is none',
    (kind) => {
      expect(blockedToolCall({ ...call, nonExecutionKind: kind })).toBeNull();
    },
  );

  test('splits what it says', () => {
    expect(splitDenial(' no reason here ')).toEqual({ reason: 'no reason here', help: null });
    expect(splitDenial('X. Reason: only this.')).toEqual({ reason: 'only this', help: null });
  });
});

test('a turn that the model refuses, and one that a limit ends, are blocks of the session', () => {
  expect(blockedTurn('refusal')).toMatchObject({ authority: 'provider-refusal', tool: 'Session' });
  expect(blockedByQuota({ code: null, message: 'usage limit reached' })).toMatchObject({
    authority: 'provider-quota',
    reasonKind: 'provider-error',
    reason: 'usage limit reached',
  });
  expect(blockedEvent({ authority: 'unknown', tool: null }).reason).toBe('blocked; no reason was reported');
});

test.each([
  ['usageLimitExceeded', '', true],
  ['rate_limit', '', true],
  ['RESOURCE_EXHAUSTED', 'Quota exceeded for metric', true],
  [null, 'exceeded retry limit, last status: 429 Too Many Requests', true],
  [null, 'You’ve hit your usage limit.', true],
  [null, 'could not generate an answer for your iterate operation', false],
  [null, 'unlimited power', false],
  [null, 'the context limit exceeded', false],
  ['contextWindowExceeded', 'too long', false],
  ['-32603', 'Internal error', false],
])('a fault with code %s and text "%s" is a limit: %s', (code, message, expected) => {
  expect(isQuota({ code, message })).toBe(expected);
});

test.each([
  ['Claude AI usage limit reached|1772380800', '2026-03-01T16:00:00.000Z'],
  ['You have hit your limit · resets 3pm (Europe/Berlin)', '2026-03-01T14:00:00.000Z'],
  ['resets 1pm (Europe/Berlin)', '2026-03-02T12:00:00.000Z'],
  ['resets 9:30am (America/New_York)', '2026-03-01T14:30:00.000Z'],
  ['Try again in 2 days 3 hours 5 minutes.', '2026-03-03T15:05:00.000Z'],
  ['Please retry in 53.5s.', '2026-03-01T12:00:53.500Z'],
  ['try again at 2026-03-01T18:00:00Z', '2026-03-01T18:00:00.000Z'],
  ['try again at 2026-13-41T99:00:00Z', null],
  ['resets 3pm (Mars/Olympus)', null],
  ['it is over|9999999999', null],
  ['nothing about time', null],
])('"%s" ends at %s', (text, expected) => {
  expect(resetTimeOf(text, NOW)).toBe(expected);
});

test('a time in our own zone is the next one', () => {
  const at = resetTimeOf('Try again at 3:45 PM.', NOW);
  expect(at).not.toBeNull();
  const wait = Date.parse(at ?? '') - NOW;
  expect(wait).toBeGreaterThan(0);
  expect(wait).toBeLessThanOrEqual(25 * 3_600_000);
});

test('numbers are seconds or milliseconds', () => {
  expect(resetTimeOfNumber(1772380800, NOW)).toBe(resetTimeOfNumber(1772380800000, NOW));
  expect(resetTimeOfNumber(Number.NaN, NOW)).toBeNull();
});

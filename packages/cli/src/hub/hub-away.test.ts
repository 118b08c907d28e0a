import { expect, it } from 'vitest';
import { FailureError } from '@roost/protocol';
import { isHubAway } from './hub-away.ts';

it('is away when nobody answered, not when the answer was a refusal', () => {
  const away = ['hub-not-running', 'hub-unreachable', 'shutting-down'] as const;
  const refusals = ['unauthenticated', 'hub-untrusted', 'node-offline', 'rate-limited'] as const;
  expect(away.map((code) => isHubAway(new FailureError(code)))).toEqual(away.map(() => true));
  expect(refusals.map((code) => isHubAway(new FailureError(code)))).toEqual(refusals.map(() => false));
  expect(isHubAway(new Error('hub-unreachable'))).toBe(false);
});

import { expect, it } from 'vitest';
import { Config } from '../home/config.ts';
import { NO_CLAIMS, ServiceModes } from './service-mode.ts';

it('a profile decides how worktrees are made, the configuration how those end that are not its own', () => {
  const modes = new ServiceModes(
    Config.parse({ worktrees: { off: 'off', managed: 'managed', both: 'manual' } }).worktrees,
    { ...NO_CLAIMS, isManagedSource: (id) => id !== 'plain' },
  );
  const isRefused = (id: string, act: 'create' | 'remove') => {
    try {
      modes.requireManual(id, act);
      return false;
    } catch {
      return true;
    }
  };
  const told = ['plain', 'profile', 'off', 'managed', 'both'].map((id) => [
    id,
    isRefused(id, 'create'),
    isRefused(id, 'remove'),
  ]);
  expect(told).toEqual([
    ['plain', false, false],
    ['profile', true, false],
    ['off', true, true],
    ['managed', true, true],
    ['both', false, false],
  ]);
});

import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// Projects by cost, one after the other. Unit tests and those of whole programs run beside each other; those of real agents and attacks
// have the machine to themselves, for they are timed by others, count processes or drive a machine to its limits. `attack` runs a
// reduced count here and the full one under `npm run attack`.

/** What real agents do is held against the clock of a machine that has nothing else to do. */
const REAL_AGENTS = [
  'agent-activity',
  'first-prompts',
  'real-agents',
  'spoken-agents',
  'worktree-agents',
].map((name) => `test/e2e/${name}.test.ts`);

export default defineConfig({
  test: {
    sequence: { shuffle: true },
    reporters: ['default', './scripts/summary-reporter.mjs'],
    projects: [
      {
        test: {
          name: 'unit',
          sequence: { groupOrder: 0 },
          // Otherwise one processor less than there are.
          maxWorkers: availableParallelism(),
          include: ['packages/*/src/**/*.test.{ts,tsx}', 'bench/**/*.test.ts'],
          globalSetup: ['test/support/bundled-node.ts'],
          setupFiles: ['test/support/property-seed.ts'],
          testTimeout: 60_000,
          hookTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'e2e',
          sequence: { groupOrder: 1 },
          maxWorkers: 2,
          include: ['test/{e2e,frozen}/**/*.test.ts'],
          exclude: REAL_AGENTS,
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'agents',
          sequence: { groupOrder: 2 },
          maxWorkers: 1,
          include: REAL_AGENTS,
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'attack',
          sequence: { groupOrder: 3 },
          maxWorkers: 1,
          include: ['test/attack/**/*.test.ts'],
          globalSetup: ['test/support/bundled-node.ts'],
          testTimeout: 1_200_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});

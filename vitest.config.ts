import { availableParallelism } from 'node:os';
import { defaultServerConditions } from 'vite';
import { defineConfig } from 'vitest/config';
import { FULL_ATTACK } from './test/support/counts.ts';
import { FileOrder } from './test/support/file-order.ts';

// Projects by cost; as many files at a time as keep two processors busy. `attack` runs a reduced count here; the full one under
// `npm run attack` drives a machine to its limits, one file at a time. Files of a worker share their modules (`isolate`), which take longer
// to load than most tests: no test may leave anything behind in one.

const REAL_AGENTS = [
  'agent-activity',
  'first-prompts',
  'real-agents',
  'spoken-agents/*',
  'web-agents',
  'worktree-agents',
].map((name) => `test/e2e/${name}.test.ts`);

// Packages of this repository are tested as their sources.
const conditions = ['roost-source', ...defaultServerConditions];
const sources = { resolve: { conditions }, ssr: { resolve: { conditions } } };

/** Whole programs at work, and browsers; more at a time, and some would have to wait too long. */
const WORKERS = 2;

/** A condition is waited for on a machine that does other things, too: the default of one second is soon over there. */
const patient = { expect: { poll: { timeout: 20_000 } } };

export default defineConfig({
  test: {
    sequence: { shuffle: true, sequencer: FileOrder },
    reporters: ['default', './scripts/summary-reporter.mjs'],
    projects: [
      {
        ...sources,
        test: {
          ...patient,
          name: 'unit',
          sequence: { groupOrder: 0 },
          // Many of them wait for what they have begun.
          maxWorkers: availableParallelism() + 1,
          isolate: false,
          include: ['packages/*/src/**/*.test.{ts,tsx}', 'bench/**/*.test.ts'],
          globalSetup: ['test/support/bundled-node.ts'],
          setupFiles: ['test/support/property-seed.ts'],
          testTimeout: 60_000,
          hookTimeout: 30_000,
        },
      },
      {
        ...sources,
        test: {
          ...patient,
          name: 'e2e',
          sequence: { groupOrder: 1 },
          maxWorkers: WORKERS,
          isolate: false,
          include: ['test/{e2e,frozen}/**/*.test.ts'],
          exclude: REAL_AGENTS,
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
      {
        ...sources,
        test: {
          ...patient,
          name: 'agents',
          sequence: { groupOrder: 1 },
          maxWorkers: WORKERS,
          isolate: false,
          include: REAL_AGENTS,
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
      {
        ...sources,
        test: {
          ...patient,
          name: 'attack',
          sequence: { groupOrder: FULL_ATTACK ? 2 : 1 },
          maxWorkers: FULL_ATTACK ? 1 : WORKERS,
          isolate: FULL_ATTACK,
          include: ['test/attack/**/*.test.ts'],
          globalSetup: ['test/support/bundled-node.ts'],
          testTimeout: 1_200_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});

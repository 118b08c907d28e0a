import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// Three projects by cost; files run beside each other, each with a state directory of its own. `attack` runs a reduced count
// here and the full one under `npm run attack`.
export default defineConfig({
  test: {
    // Otherwise one processor less than there are.
    maxWorkers: availableParallelism(),
    sequence: { shuffle: true },
    reporters: ['default', './scripts/summary-reporter.mjs'],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts', 'bench/**/*.test.ts'],
          globalSetup: ['test/support/bundled-node.ts'],
          setupFiles: ['test/support/property-seed.ts'],
          testTimeout: 60_000,
          hookTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/{e2e,frozen}/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'attack',
          include: ['test/attack/**/*.test.ts'],
          globalSetup: ['test/support/bundled-node.ts'],
          testTimeout: 1_200_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});

import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// Three projects by cost, one after the other. Unit tests run beside each other; those of whole programs have the machine to
// themselves, for some count processes or drive a machine to its limits. `attack` runs a reduced count here and the full one under
// `npm run attack`.
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
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'attack',
          sequence: { groupOrder: 2 },
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

/**
 * What a run with a real agent showed of it, feature by feature. It is held against docs/providers.json, of which docs/providers.md is
 * made, so that what is written there is what happens; `npm run lab:matrix` writes it anew.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { PINNED, type TerminalCliName } from '@roost/lab';
import { expect } from 'vitest';

const FILE = new URL('../../docs/providers.json', import.meta.url);

/** In the order in which they are shown. */
const FEATURES = {
  start: 'starts, and is known to take a prompt',
  dialogs: 'dialogs of its start are shown, and not answered',
  prompt: 'a prompt arrives, and is known to be answered',
  'half-typed': 'text that somebody has begun to type is never merged with a prompt',
  refuse: 'a permission is refused',
  allow: 'a permission is allowed by another client',
  'asking-through-crash': 'a request outlives kill -9 of the node, and is answered once',
  interrupt: 'a turn is interrupted, and the agent stays',
  'working-through-crash': 'a turn outlives kill -9 of the node',
  resume: 'resumed with its conversation after kill -9 of the agent',
  quota: 'a used-up quota is told as that',
  network: 'a connection that breaks off in the middle of an answer',
  together: 'two sessions in one directory are kept apart',
} as const;
type Feature = keyof typeof FEATURES;

interface Row {
  readonly provider: string;
  readonly version: string;
  readonly transport: 'pty' | 'pipe';
  /** What was seen; `works` where it is as the feature says. */
  readonly seen: Readonly<Partial<Record<Feature, string>>>;
}

interface Matrix {
  readonly features: Readonly<Record<string, string>>;
  readonly rows: readonly Row[];
}

export class ProviderRun {
  readonly #key: Pick<Row, 'provider' | 'version' | 'transport'>;
  readonly #seen: Partial<Record<Feature, string>> = {};

  constructor(provider: TerminalCliName, transport: Row['transport']) {
    this.#key = { provider, version: PINNED[provider].version, transport };
  }

  shows(feature: Feature, seen = 'works'): void {
    this.#seen[feature] = seen;
  }

  /** At its end: everything that it showed is what is written, and nothing else is. */
  hold(): void {
    const { rows } = JSON.parse(readFileSync(FILE, 'utf8')) as Matrix;
    const { provider, transport } = this.#key;
    const isSame = (row: Row) => row.provider === provider && row.transport === transport;
    const row: Row = { ...this.#key, seen: this.#seen };
    if (process.env.ROOST_MATRIX !== 'write') {
      expect(row, 'npm run lab:matrix   writes down what is seen now').toEqual(rows.find(isSame));
      return;
    }
    const matrix: Matrix = {
      features: FEATURES,
      rows: [...rows.filter((one) => !isSame(one)), row].sort((one, other) =>
        `${one.provider} ${one.transport}`.localeCompare(`${other.provider} ${other.transport}`),
      ),
    };
    writeFileSync(FILE, `${JSON.stringify(matrix, null, 2)}\n`);
  }
}

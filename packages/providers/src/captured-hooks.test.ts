/** What the real programs reported of a turn, one with a permission, and one that was interrupted, in their order. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AgentEvent } from '@roost/protocol';
import { findProvider } from './index.ts';

const FIXTURES = new URL('../fixtures/', import.meta.url).pathname;
const PROVIDERS = ['claude', 'codex', 'qwen', 'opencode'] as const;

function reportsOf(provider: string): unknown[] {
  const directory = join(FIXTURES, provider, 'hooks');
  const files = readdirSync(directory).sort();
  return files.map((file) => JSON.parse(readFileSync(join(directory, file), 'utf8')) as unknown);
}

const read = (provider: string, report: unknown): readonly AgentEvent[] =>
  findProvider(provider)?.hooks?.read(report) ?? [];

function told(event: AgentEvent): string {
  switch (event.kind) {
    case 'identity':
      return `identity ${event.providerSessionId}`;
    case 'session-started':
      return `started ${event.model ?? '-'}`;
    case 'turn-started':
      return `turn: ${event.prompt}`;
    case 'tool-started':
      return `tool ${event.tool}`;
    case 'tool-finished':
      return `tool ${event.outcome}`;
    case 'interaction-requested':
      return `${event.interaction}: ${event.title}`;
    case 'interaction-settled':
      return event.outcome;
    case 'turn-finished':
      return event.outcome;
    default:
      return event.kind;
  }
}

const ID = '00000000-0000-4000-8000-000000000001';
const OPENCODE_ID = 'ses_00000000000000000000000001';
const COMMAND = 'touch made.txt; echo made-it';

const STORIES: Readonly<Record<(typeof PROVIDERS)[number], readonly string[]>> = {
  claude: [
    'started claude-opus-4-8[1m]',
    `identity ${ID}`,
    'turn: Say hello, turn-hello',
    'completed',
    'turn: Run it, turn-tool',
    'tool Bash',
    `approval: Bash: ${COMMAND}`,
    'tool ok',
    'completed',
    'turn: Talk on, turn-slow',
    'session-ended',
  ],
  codex: [
    'started mock-model',
    `identity ${ID}`,
    'turn: Say hello, turn-hello',
    'completed',
    'turn: Run it, turn-tool',
    'tool Bash',
    `approval: Bash: ${COMMAND}`,
    'tool ok',
    'completed',
    'turn: Talk on, turn-slow',
    'interrupted',
    'session-ended',
  ],
  qwen: [
    'started mock-model',
    `identity ${ID}`,
    'turn: Say hello, turn-hello',
    'completed',
    'turn: Run it, turn-tool',
    `approval: run_shell_command: ${COMMAND}`,
    'tool run_shell_command',
    'tool ok',
    // What it says to itself when a tool has run.
    'turn: ',
    'completed',
    'turn: Talk on, turn-slow',
    'session-ended',
  ],
  opencode: [
    'started mock-model',
    `identity ${OPENCODE_ID}`,
    `identity ${OPENCODE_ID}`,
    'turn: Say hello, turn-hello',
    'completed',
    `identity ${OPENCODE_ID}`,
    'turn: Run it, turn-tool',
    `approval: bash: ${COMMAND}`,
    'approved',
    'completed',
    `identity ${OPENCODE_ID}`,
    'turn: Talk on, turn-slow',
    'interrupted',
  ],
};

describe.each(PROVIDERS)('reports of %s', (provider) => {
  test('are read as what happened', () => {
    expect(reportsOf(provider).flatMap((report) => read(provider, report).map(told))).toEqual(
      STORIES[provider],
    );
  });

  test('with anything in the place of anything give events that the protocol knows, or none', () => {
    const reports = reportsOf(provider);
    const changed = fc
      .tuple(fc.constantFrom(...reports), fc.array(fc.tuple(fc.nat(), fc.jsonValue()), { maxLength: 4 }))
      .map(([report, changes]) =>
        changes.reduce<unknown>((one, [at, value]) => replaced(one, at, value), report),
      );
    fc.assert(
      fc.property(fc.oneof(changed, fc.jsonValue()), (report) => {
        for (const event of read(provider, report)) expect(AgentEvent.safeParse(event).error).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });
});

/** The value with another in one of its places. */
function replaced(value: unknown, at: number, other: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return other;
  const names = Object.keys(value);
  const name = names[at % Math.max(1, names.length)];
  if (name === undefined) return other;
  const inside: unknown = (value as Record<string, unknown>)[name];
  return { ...value, [name]: at % 3 === 0 ? replaced(inside, Math.floor(at / 3), other) : other };
}

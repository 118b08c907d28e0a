/** Every screen that was captured from the real programs is read as what was true then. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findProvider, readComposer, readScreen } from './index.ts';

interface Captured {
  readonly state: 'starting' | 'idle' | 'working' | 'blocked' | 'exited';
  readonly reason?: string;
  readonly title: string | null;
  readonly lines: readonly string[];
}

const FIXTURES = new URL('../fixtures/', import.meta.url).pathname;
const screens = ['claude', 'codex', 'gemini', 'opencode', 'qwen'].flatMap((cli) =>
  readdirSync(join(FIXTURES, cli, 'screens')).map((file) => ({ cli, name: file.replace('.json', '') })),
);

/** `idle`: the composer waits. Nothing may be said of a start, or of what has ended. */
function expected({ state, reason }: Captured): string {
  if (state === 'blocked') return `blocked ${reason ?? 'other'}`;
  return state === 'idle' ? 'composer' : state;
}

test.for(screens)('$cli: $name', ({ cli, name }) => {
  const screen = JSON.parse(readFileSync(join(FIXTURES, cli, 'screens', `${name}.json`), 'utf8')) as Captured;
  const verdict = readScreen(findProvider(cli)?.screen ?? [], screen);
  const { state, reason } = verdict ?? { state: 'nothing', reason: null };
  const read = reason === null ? state : `${state} ${reason}`;
  if (screen.state === 'starting' || screen.state === 'exited') expect(read).toBe('nothing');
  else expect(read, `${verdict?.ruleId}\n${screen.title}\n${screen.lines.join('\n')}`).toBe(expected(screen));
});

/** What was typed into it when its screen was captured; what is not here is empty, as far as the composer waits. */
const TYPED: Readonly<Record<string, RegExp>> = {
  'idle-half-typed': /^half a thought about the$/,
  'idle-pasted': /^(?:first pasted line second pasted line third|\[Pasted ~3 lines\])$/,
  'idle-command-menu': /^\/$/,
  'working-half-typed': /^next I want$/,
};
/** Its keys were lost while it still started. */
const LOST: readonly string[] = ['claude/idle-half-typed', 'claude/idle-pasted'];

test.for(screens.filter(({ name }) => name.startsWith('idle-') || name === 'working-half-typed'))(
  '$cli: what is in the composer of $name',
  ({ cli, name }) => {
    const screen = JSON.parse(
      readFileSync(join(FIXTURES, cli, 'screens', `${name}.json`), 'utf8'),
    ) as Captured;
    const rule = findProvider(cli)?.composer;
    const typed = rule && readComposer(rule, screen);
    const wanted = LOST.includes(`${cli}/${name}`) ? undefined : TYPED[name];
    expect(typed, screen.lines.join('\n')).toMatch(wanted ?? /^$/);
  },
);

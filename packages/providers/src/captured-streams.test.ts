/** What the real programs wrote, read by the drivers, with a crash after every line. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { acp } from './acp/driver.ts';
import type { AgentProtocol } from './agent-driver.ts';
import { claudeStreamJson } from './claude/stream-json.ts';
import { codexAppServer } from './codex/app-server.ts';
import { DriverForTest } from './driver-for-test.ts';

const FIXTURES = fileURLToPath(new URL('../fixtures', import.meta.url));

const linesOf = (file: string): string[] =>
  readFileSync(`${FIXTURES}/${file}`, 'utf8')
    .split('\n')
    .filter((line) => line !== '');

/** Does at each line what the person did when it was captured. */
function replay(protocol: AgentProtocol, lines: readonly string[], name: string): DriverForTest {
  const agent = new DriverForTest(protocol);
  const isLater = name.includes('load') || name.includes('resume');
  agent.driver.open({ directory: '/work', resume: isLater ? 'earlier' : null });
  for (const line of lines) {
    agent.receive(line);
    agent.crash();
    if (agent.driver.takesPrompt) agent.driver.prompt('go');
    if (name.includes('interrupt') || name.includes('cancel')) {
      if (agent.events.some(({ kind }) => kind === 'message' || kind === 'interaction-requested'))
        agent.driver.interrupt();
    }
    for (const id of agent.driver.openRequests) {
      const asked = agent.events.findLast((event) => event.kind === 'interaction-requested');
      const once = asked?.options.find(({ kind }) => kind === 'allow-once');
      expect(once).toBeDefined();
      const answer = name.includes('denied')
        ? ({ kind: 'refuse', message: null } as const)
        : ({ kind: 'option', optionId: once?.optionId ?? '' } as const);
      expect(agent.driver.answer(id, answer)).toBe(true);
    }
  }
  return agent;
}

/** How each of them went. */
function story(agent: DriverForTest): string[] {
  return agent.events.flatMap((event) => {
    switch (event.kind) {
      case 'turn-finished':
      case 'tool-finished':
      case 'interaction-settled':
        return [`${event.kind} ${event.outcome}`];
      case 'blocked':
        return [`${event.kind} ${event.authority} ${event.reasonKind ?? ''}`.trim()];
      case 'session-ended':
      case 'tool-started':
        return [event.kind];
      case 'notice':
        expect(event.text).not.toContain('Not understood');
        return [];
      default:
        return [];
    }
  });
}

function capturedIn(folder: string, pick: RegExp): string[] {
  const names = readdirSync(`${FIXTURES}/${folder}`);
  return names.filter((name) => pick.test(name) && !name.endsWith('.in.jsonl'));
}

describe('claude', () => {
  test.each(capturedIn('claude/streams', /^(?!print).*\.jsonl$/))('%s', (name) => {
    const lines = linesOf(`claude/streams/${name}`).map((line) => line.replaceAll('"request-', '"roost-'));
    expect(story(replay(claudeStreamJson, lines, name))).toMatchSnapshot();
  });
});

describe('codex', () => {
  test.each(capturedIn('codex/streams', /^app-server.*\.jsonl$/))('%s', (name) => {
    // The capture asks for no list of models.
    const lines = linesOf(`codex/streams/${name}`).map((line) =>
      line.replace(/^\{"id":(\d+),"(result|error)"/, (_, id: string, rest: string) =>
        Number(id) < 3 ? `{"id":${id},"${rest}"` : `{"id":${Number(id) + 1},"${rest}"`,
      ),
    );
    expect(story(replay(codexAppServer, lines, name))).toMatchSnapshot();
  });
});

describe.each(['gemini', 'qwen'])('%s over ACP', (cli) => {
  test.each(capturedIn(`${cli}/streams`, /^acp-.*\.jsonl$/))('%s', (name) => {
    const lines = linesOf(`${cli}/streams/${name}`).flatMap((line) => {
      const { from, message } = JSON.parse(line) as { from: string; message: unknown };
      return from === 'agent' ? [JSON.stringify(message)] : [];
    });
    expect(story(replay(acp, lines, name))).toMatchSnapshot();
  });
});

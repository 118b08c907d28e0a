// For tests only: a program called claude, which draws a composer as Claude Code does, and reports when it is told to.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * A prompt tells what it does: `work`, `report` (no work is shown), and `nothing`; behind `@file` and `file:`, Enter only completes it. `--ask-first`: it begins with a dialog, which Enter
 * answers; `--typed=TEXT`: somebody has begun to type that, which Ctrl-U takes back.
 */
const AGENT = `
import { appendFileSync, readFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
const file = process.argv[process.argv.indexOf('--settings') + 1];
const { hooks } = JSON.parse(readFileSync(file, 'utf8'));
const report = (name, more) =>
  spawnSync('sh', ['-c', hooks[name][0].hooks[0].command], {
    input: JSON.stringify({ hook_event_name: name, ...more }),
  });
const rule = '─'.repeat(40);
let text = process.argv.find((one) => one.startsWith('--typed='))?.slice(8) ?? '';
let footer = '  ? for shortcuts';
let said = '';
const draw = () =>
  process.stdout.write(['\\x1b[2J\\x1b[H' + said, rule, '❯ ' + text.replaceAll('\\n', '\\r\\n  '), rule, footer].join('\\r\\n'));
const trust = ['Quick safety check', '❯ 1. Yes, I trust this folder', '  2. No, exit', 'Enter to confirm'];
let dialog = process.argv.includes('--ask-first');
const turn = async (prompt) => {
  appendFileSync(import.meta.dirname + '/received', JSON.stringify(prompt) + '\\n');
  said = 'got [' + prompt.replaceAll('\\n', '|') + ']';
  draw();
  if (prompt.includes('report')) report('UserPromptSubmit', { prompt: prompt.includes('other') ? 'other' : prompt });
  if (prompt.includes('work')) {
    footer = '  esc to interrupt';
    draw();
    await new Promise((resolve) => setTimeout(resolve, 700));
    footer = '  ? for shortcuts';
    draw();
  }
  if (prompt.includes('report')) report('Stop', {});
};
process.stdin.setRawMode(true);
process.stdout.write('\\x1b[?2004h');
if (dialog) process.stdout.write(trust.join('\\r\\n'));
else draw();
process.stdin.on('data', (bytes) => {
  const keys = String(bytes);
  if (keys === '\\r') {
    if (dialog) dialog = false;
    else if (/(@file|file:)$/.test(text)) text = text.replace(/@?file:?$/, 'file ');
    else {
      const prompt = text;
      text = '';
      void turn(prompt);
    }
  } else if (keys === '\\x15') text = '';
  else text += keys.replaceAll(/\\x1b\\[20[01]~/g, '').replaceAll('\\r', '\\n');
  draw();
});
`;

/** Answers the PATH with which it is found. */
export function installAgent(directory: string): string {
  const programs = join(directory, 'bin');
  const agent = join(directory, 'agent.mjs');
  mkdirSync(programs);
  writeFileSync(agent, AGENT);
  const script = `#!/bin/sh\n[ "$1" = --version ] && exec echo 2.1.197\nexec '${process.execPath}' '${agent}' "$@"\n`;
  writeFileSync(join(programs, 'claude'), script);
  chmodSync(join(programs, 'claude'), 0o755);
  return `${programs}${delimiter}${process.env.PATH ?? ''}`;
}

/** All prompts that it ever got. */
export function receivedPrompts(directory: string): string[] {
  const file = join(directory, 'received');
  if (!existsSync(file)) return [];
  // The last one may still be being written.
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as string);
}

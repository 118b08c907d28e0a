/** `roost doctor`: looks at everything that has to be in place, and says what to do about what is not. */
import type { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { examine, type Finding } from '../doctor/examine.ts';
import { paletteFor } from '../paint.ts';
import { printable } from '../printable.ts';

export function define(command: Command, context: CommandContext): void {
  command.option('--json', 'print one JSON document').action(async (options: { json?: boolean }) => {
    const { stdout, env } = context.terminal;
    const palette = paletteFor(stdout, env);
    const paints = { ok: palette.good, warn: palette.warn, fail: palette.bad };
    const findings: Finding[] = [];
    for await (const finding of examine(context)) {
      findings.push(finding);
      if (options.json === true) continue;
      const mark = paints[finding.level](finding.level.padEnd(4));
      context.print(`${mark}  ${finding.subject.padEnd(16)}${printable(finding.text)}`);
    }
    if (options.json === true) context.printJson(findings);
    if (findings.some(({ level }) => level === 'fail')) context.exitCode = 1;
  });
}

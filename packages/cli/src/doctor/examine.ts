/** The findings in the order in which one depends on another; a later one is not looked at when it cannot hold. */
import type { CommandContext } from '../command-context.ts';
import { examineHome } from './home-findings.ts';
import { examineNativeParts } from './native-findings.ts';
import { examineNode } from './node-findings.ts';
import { examineProviders } from './provider-findings.ts';

export interface Finding {
  /** `fail`: something will not work. `warn`: something may not. */
  readonly level: 'ok' | 'warn' | 'fail';
  readonly subject: string;
  readonly text: string;
}

export async function* examine(context: CommandContext): AsyncGenerator<Finding, void, void> {
  const home = await context.home();
  yield {
    level: 'ok',
    subject: 'runtime',
    text: `Node.js ${process.versions.node}, ${process.platform} ${process.arch}`,
  };
  yield* examineHome(home);
  yield* examineNativeParts();
  yield* examineNode(context);
  yield* examineProviders(context);
  yield examineTerminal(context);
}

function examineTerminal({ terminal }: CommandContext): Finding {
  const subject = 'terminal';
  const { stdin, stdout, env } = terminal;
  if (!stdin.isTTY || !stdout.isTTY) {
    return { level: 'ok', subject, text: 'none here; roost attach needs one' };
  }
  const kind = env.TERM ?? '';
  const text = `${kind === '' ? 'TERM is not set' : kind}, ${stdout.columns}x${stdout.rows}`;
  return { level: kind === '' || kind === 'dumb' ? 'warn' : 'ok', subject, text };
}

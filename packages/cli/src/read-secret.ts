/** A secret that somebody hands over: from standard input, so that it stands in no argument. A person pastes it and sees nothing of it. */
import type { CommandContext } from './command-context.ts';
import { readAll } from './read-all.ts';
import { UsageError } from './usage-error.ts';

const INTERRUPT = '\x03';
const END = new Set(['\r', '\n', '\x04']);
const ERASE = new Set(['\x7f', '\b']);

/** `ask`: what a person is asked for. @throws UsageError: nothing was given. */
export async function readSecret(
  context: CommandContext,
  { ask, missing }: { readonly ask: string; readonly missing: string },
): Promise<string> {
  const { stdin } = context.terminal;
  const given = stdin.isTTY ? await pasted(context, ask) : await readAll(stdin);
  const secret = given.trim();
  if (secret === '') throw new UsageError(missing);
  return secret;
}

/** What is typed until Enter, without an echo. */
function pasted(context: CommandContext, ask: string): Promise<string> {
  const { stdin } = context.terminal;
  return new Promise((resolve, reject) => {
    let text = '';
    const finish = (outcome: () => void): void => {
      stdin.off('data', take);
      stdin.setRawMode(false);
      stdin.pause();
      outcome();
    };
    const take = (chunk: string): void => {
      for (const key of chunk) {
        if (key === INTERRUPT) {
          finish(() => reject(new UsageError('nothing was given')));
          return;
        }
        if (END.has(key)) {
          finish(() => resolve(text));
          return;
        }
        text = ERASE.has(key) ? text.slice(0, -1) : text + key;
      }
    };
    stdin.setRawMode(true);
    stdin.setEncoding('utf8');
    stdin.on('data', take);
    context.note(ask);
  });
}

/** A secret that somebody hands over: a line of standard input, so that it stands in no argument. A person pastes it and sees nothing of it. */
import type { CommandContext } from './command-context.ts';
import { UsageError } from './usage-error.ts';

const INTERRUPT = '\x03';
const END = new Set(['\r', '\n', '\x04']);
const ERASE = new Set(['\x7f', '\b']);
const CHARACTERS_MAX = 4_096;

/** `ask`: what a person is asked for. @throws UsageError: nothing was given, or far too much. */
export async function readSecret(
  context: CommandContext,
  { ask, missing }: { readonly ask: string; readonly missing: string },
): Promise<string> {
  context.note(ask);
  const secret = (await readLine(context.terminal.stdin)).trim();
  if (secret === '') throw new UsageError(missing);
  return secret;
}

/** The first line, without an echo where it is typed; what there is of it when the input ends before. */
function readLine(stdin: NodeJS.ReadStream): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const finish = (outcome: () => void): void => {
      stdin.off('data', take).off('end', end).off('error', fail);
      if (stdin.isTTY) stdin.setRawMode(false);
      stdin.pause();
      outcome();
    };
    const end = (): void => finish(() => resolve(text));
    const fail = (error: Error): void => finish(() => reject(error));
    const take = (chunk: string): void => {
      for (const key of chunk) {
        if (END.has(key)) {
          end();
          return;
        }
        if (key === INTERRUPT) {
          // As if the terminal had not been asked to pass it on.
          finish(() => process.kill(process.pid, 'SIGINT'));
          return;
        }
        if (ERASE.has(key)) text = text.slice(0, -1);
        else if (key >= ' ') text += key;
      }
      if (text.length > CHARACTERS_MAX) fail(new UsageError('that is too long'));
    };
    if (stdin.isTTY) stdin.setRawMode(true);
    stdin.setEncoding('utf8');
    stdin.on('data', take).on('end', end).on('error', fail);
  });
}

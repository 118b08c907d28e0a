import type { ChildProcess } from 'node:child_process';

/** The next message of a process of our own program. Fails when it ends instead. */
export function answerOf<Answer>(child: ChildProcess): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error('a helper process ended'));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      // From our own program.
      resolve(message as Answer);
    });
  });
}

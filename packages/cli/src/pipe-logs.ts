/** Output of a pipe session, page by page; a reader that is slower than the program slows the reading, not the program. */
import { once } from 'node:events';
import { FailureError, WAIT_MS_MAX, type Result, type Session } from '@roost/protocol';
import type { CommandContext } from './command-context.ts';

export interface PipeLogsOptions {
  readonly stream: 'stdout' | 'stderr';
  /** Only the last lines of what is kept; undefined for all. */
  readonly lines: number | undefined;
  readonly follow: boolean;
  readonly signal: AbortSignal;
}

/** Milliseconds of one waiting read. */
const WAIT_MS = Math.min(30_000, WAIT_MS_MAX);
/** Milliseconds beyond the wait that an answer may take. */
const ANSWER_MS = 10_000;

export async function printPipeOutput(
  context: CommandContext,
  session: Session,
  options: PipeLogsOptions,
): Promise<void> {
  const { stdout } = context.terminal;
  const write = async (bytes: Buffer): Promise<void> => {
    if (bytes.length > 0 && !stdout.write(bytes)) await once(stdout, 'drain', { signal: options.signal });
  };
  try {
    let page = await readFirst(context, session, options.stream);
    // The last lines are known only at the end of what is kept.
    let held: Buffer = Buffer.alloc(0);
    for (;;) {
      const bytes = Buffer.from(page.base64, 'base64');
      if (options.lines === undefined) await write(bytes);
      else held = lastLines(Buffer.concat([held, bytes]), options.lines);
      const caughtUp = bytes.length === 0;
      if (page.ended || caughtUp) break;
      page = await read(context, session, options, page.nextOffset, 0);
    }
    await write(held);
    while (options.follow && !page.ended) {
      page = await read(context, session, options, page.nextOffset, WAIT_MS);
      await write(Buffer.from(page.base64, 'base64'));
    }
  } catch (error) {
    if (!options.signal.aborted) throw error;
  }
}

type Page = Result<'session.readOutput'>;

async function readFirst(
  context: CommandContext,
  session: Session,
  stream: 'stdout' | 'stderr',
): Promise<Page> {
  const connection = await context.node();
  const from = (offset: number): Promise<Page> =>
    connection.request('session.readOutput', { sessionId: session.id, stream, offset });
  try {
    return await from(0);
  } catch (error) {
    if (!(error instanceof FailureError) || error.failure.code !== 'output-gone') throw error;
    const floor = error.failure.details?.floor;
    if (typeof floor !== 'number') throw error;
    context.note(`the first ${floor} bytes are no longer kept`);
    return from(floor);
  }
}

async function read(
  context: CommandContext,
  session: Session,
  options: PipeLogsOptions,
  offset: number,
  waitMs: number,
): Promise<Page> {
  return (await context.node()).request(
    'session.readOutput',
    { sessionId: session.id, stream: options.stream, offset, waitMs },
    { timeoutMs: waitMs + ANSWER_MS, signal: options.signal },
  );
}

/** The bytes of the last lines; a line feed at the very end closes the last line. */
export function lastLines(bytes: Buffer, count: number): Buffer {
  if (count === 0) return Buffer.alloc(0);
  let at = bytes.length - 1;
  for (let lines = 0; lines < count; lines++) {
    at = at <= 0 ? -1 : bytes.lastIndexOf(0x0a, at - 1);
    if (at < 0) return bytes;
  }
  return bytes.subarray(at + 1);
}

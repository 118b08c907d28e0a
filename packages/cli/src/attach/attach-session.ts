/**
 * One session on one terminal, until it ends, is left, or is lost. The terminal is given back before anything is said.
 */
import { attachSession as attachTo, type TerminalAttachment } from '@roost/client';
import { FailureError, type DriveAsk, type Session } from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';
import { describeEnd, describeStatus, isLive } from '../session-status.ts';
import type { DetachKey } from './detach-key-name.ts';
import { DetachKeys, type KeyAction } from './detach-keys.ts';
import { RawTerminal } from './raw-terminal.ts';
import { ShownOutput } from './shown-output.ts';
import { screenText } from '../screen-text.ts';

type Outcome =
  | { readonly kind: 'ended'; readonly exitCode: number | null; readonly exitSignal: string | null }
  | { readonly kind: 'detached' | 'lost' }
  /** `typed`: what was typed behind the key, still to be done. */
  | { readonly kind: 'redraw'; readonly typed: readonly KeyAction[] }
  | { readonly kind: 'signal'; readonly signal: NodeJS.Signals };

/** Milliseconds after which the beginning of a key sequence is taken for keys of their own. */
const UNDECIDED_MS = 10;
/** Milliseconds between two bells. */
const BELL_MS = 1_000;
const BELL = '\x07';
const ENDING_SIGNALS = ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'] as const;

export async function attachSession(
  context: CommandContext,
  session: Session,
  mode: 'drive' | 'watch',
  key: DetachKey,
): Promise<void> {
  const { stdin, stdout } = context.terminal;
  const terminal = new RawTerminal(stdin, stdout);
  const keys = new DetachKeys(key);
  let outcome: Outcome;
  let typed: readonly KeyAction[] = [];
  try {
    for (;;) {
      const node = await context.node();
      const attachment = await attachTo(node, { sessionId: session.id, mode, ...terminal.size });
      // The node is not needed while its keeper shows it: it may restart, and has few places for those who look on for hours.
      if (node.isLocal) context.close();
      terminal.borrow();
      outcome = await showUntilLeft({ attachment, terminal, stdin, stdout, keys, mode, typed });
      if (outcome.kind !== 'redraw') break;
      typed = outcome.typed;
    }
  } finally {
    terminal.restore();
  }
  switch (outcome.kind) {
    case 'ended':
      context.note(`${session.name} ${describeEnd(outcome)}`);
      return;
    case 'detached':
      context.note(`detached from ${session.name}; roost attach ${session.name} returns to it`);
      return;
    case 'lost':
      throw new FailureError('session-lost', { name: session.name });
    case 'signal':
      context.close();
      process.kill(process.pid, outcome.signal);
  }
}

/** Attaches to a session that was just started; one that is over already is shown as it ended. */
export async function attachOrShow(context: CommandContext, session: Session, key: DetachKey): Promise<void> {
  try {
    await attachSession(context, session, 'drive', key);
    return;
  } catch (error) {
    if (!(error instanceof FailureError)) throw error;
    const { code } = error.failure;
    if (code !== 'session-not-running' && code !== 'attach-refused') throw error;
    const current = await context.resolveSession(session.id);
    if (isLive(current)) throw error;
    const screen = await (
      await context.node()
    ).request('session.readScreen', { sessionId: session.id, scrollback: 1_000 });
    const text = screenText(screen.lines);
    if (text !== '') context.terminal.stdout.write(text);
    context.note(
      current.status === 'exited'
        ? `${current.name} ${describeEnd(current)}`
        : `${current.name}: ${describeStatus(current)}`,
    );
  }
}

interface Showing {
  readonly attachment: TerminalAttachment;
  readonly terminal: RawTerminal;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly keys: DetachKeys;
  readonly mode: 'drive' | 'watch';
  readonly typed: readonly KeyAction[];
}

function showUntilLeft(showing: Showing): Promise<Outcome> {
  const { attachment, terminal, stdin, stdout, keys, mode, typed } = showing;
  const shown = new ShownOutput(stdout, (bytes) => attachment.acknowledge(bytes));
  let role = attachment.accepted.role;
  let asks: readonly DriveAsk[] = [];
  let undecided: NodeJS.Timeout | undefined;
  let lastBell = 0;

  return new Promise((resolve) => {
    let ended: Outcome | undefined;
    let left = false;
    const leave = (outcome: Outcome): void => {
      // Closing reports itself as closed.
      if (left) return;
      left = true;
      clearTimeout(undecided);
      shown.stop();
      // What is typed until somebody listens again waits in the terminal.
      stdin.pause();
      stdin.off('data', onData);
      stdin.off('end', onHangUp);
      stdin.off('error', onHangUp);
      stdout.off('resize', onResize);
      process.off('SIGCONT', onContinue);
      for (const [signal, listener] of onSignals) process.off(signal, listener);
      attachment.close();
      resolve(outcome);
    };
    const act = (actions: readonly KeyAction[]): void => {
      for (const [index, action] of actions.entries()) {
        switch (action.kind) {
          case 'send':
            if (mode === 'drive' && role === 'driver') attachment.write(action.bytes);
            else ring();
            break;
          case 'take-over':
            if (mode === 'drive') {
              attachment.takeOver();
              // The keeper takes frames in order: what is typed from here on is the driver's.
              role = 'driver';
            } else ring();
            break;
          case 'ask':
            if (mode === 'drive') attachment.askToDrive();
            else ring();
            break;
          case 'hand-over':
            if (asks[0] === undefined) ring();
            else attachment.answerAsk({ client: asks[0].client, handOver: true });
            break;
          case 'detach':
            leave({ kind: 'detached' });
            return;
          case 'redraw':
            leave({ kind: 'redraw', typed: actions.slice(index + 1) });
            return;
        }
      }
    };
    /** Says that a key went nowhere, or that somebody asks to drive, without a mark on the program's screen. */
    const ring = (): void => {
      if (Date.now() - lastBell < BELL_MS) return;
      lastBell = Date.now();
      stdout.write(BELL);
    };
    const onData = (chunk: Buffer): void => {
      clearTimeout(undecided);
      act(keys.push(chunk));
      if (keys.undecided) undecided = setTimeout(() => act(keys.flush()), UNDECIDED_MS);
    };
    const onHangUp = (): void => leave({ kind: 'detached' });
    const onResize = (): void => {
      const { columns, rows } = terminal.size;
      attachment.resize(columns, rows);
    };
    const onContinue = (): void => {
      terminal.renew();
      leave({ kind: 'redraw', typed: [] });
    };
    const onSignals = ENDING_SIGNALS.map(
      (signal) => [signal, () => leave({ kind: 'signal', signal })] as const,
    );

    stdin.on('data', onData);
    stdin.on('end', onHangUp);
    stdin.on('error', onHangUp);
    stdout.on('resize', onResize);
    process.on('SIGCONT', onContinue);
    for (const [signal, listener] of onSignals) process.on(signal, listener);
    attachment.start({
      screen: (bytes) => shown.write(bytes, bytes.length),
      output: (bytes) => shown.write(bytes, bytes.length),
      role: (change) => {
        role = change.role;
        asks = [];
      },
      asks: (now) => {
        if (now.length > asks.length) ring();
        asks = now;
      },
      ended: (end) => {
        ended = { kind: 'ended', ...end };
      },
      closed: () => leave(ended ?? { kind: 'lost' }),
    });
    act(typed);
    stdin.resume();
  });
}

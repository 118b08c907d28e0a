import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { RelayConnection, TerminalAttachment, TerminalListener } from '@roost/client/browser';
import { FailureError, type DriveAnswer, type SessionId } from '@roost/protocol';
import type { UsedLine } from '../hub/node-lines.ts';
import { NODE_ID } from '../testing/things.ts';
import { TerminalSession, type TerminalState, type Wish } from './terminal-session.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A terminal whose other end is in the hands of the test. */
class FakeAttachment implements TerminalAttachment {
  readonly sessionId = '1'.repeat(16);
  readonly accepted;
  readonly done: string[] = [];
  listener: TerminalListener | undefined;
  constructor(role: 'driver' | 'watcher') {
    this.accepted = { version: 1, sessionId: this.sessionId, columns: 90, rows: 30, role };
  }
  start(listener: TerminalListener): void {
    this.listener = listener;
  }
  write(bytes: Uint8Array): boolean {
    this.done.push(`write ${new TextDecoder().decode(bytes)}`);
    return true;
  }
  resize(columns: number, rows: number): void {
    this.done.push(`resize ${columns}x${rows}`);
  }
  takeOver(): void {
    this.done.push('take over');
  }
  askToDrive(): void {
    this.done.push('ask');
  }
  answerAsk({ client, handOver }: DriveAnswer): void {
    this.done.push(`${handOver ? 'hand over to' : 'keep from'} ${client}`);
  }
  acknowledge(bytes: number): void {
    this.done.push(`acknowledge ${bytes}`);
  }
  close(): void {
    this.done.push('close');
    this.listener?.closed();
  }
}

function begin(answers: readonly (FakeAttachment | FailureError)[], wish: Wish | null = null) {
  const states: TerminalState[] = [];
  const shown: { text: string; onShown: () => void }[] = [];
  const used = { lines: 0 };
  let attempts = 0;
  const use = (): Promise<UsedLine> => {
    used.lines++;
    const openTerminal = (): Promise<TerminalAttachment> => {
      const answer = answers[attempts++];
      return answer instanceof FakeAttachment
        ? Promise.resolve(answer)
        : Promise.reject(answer ?? new Error('no more'));
    };
    const connection = { openTerminal } as unknown as RelayConnection;
    return Promise.resolve({ connection, release: () => used.lines-- });
  };
  const session = new TerminalSession({
    lines: { use },
    nodeId: NODE_ID,
    sessionId: '1'.repeat(16) as SessionId,
    mode: 'drive',
    wish,
    screen: {
      size: () => ({ columns: 90, rows: 30 }),
      write: (bytes, onShown) => shown.push({ text: new TextDecoder().decode(bytes), onShown }),
    },
    onState: (state) => states.push(state),
  });
  const ending = new AbortController();
  const running = session.run(ending.signal);
  return { session, states, shown, used, ending, running, kinds: () => states.map(({ kind }) => kind) };
}
const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

test('bytes are acknowledged once they are shown, and no earlier', async () => {
  const attachment = new FakeAttachment('driver');
  const { shown } = begin([attachment]);
  await settle();
  attachment.listener!.screen(new TextEncoder().encode('picture'));
  attachment.listener!.output(new TextEncoder().encode('more'));
  expect(attachment.done).toEqual([]);
  for (const { onShown } of shown) onShown();
  expect(attachment.done).toEqual(['acknowledge 7', 'acknowledge 4']);
});

test('keys and sizes of a watcher go nowhere until it takes over', async () => {
  const attachment = new FakeAttachment('watcher');
  const { session, states } = begin([attachment]);
  await settle();
  session.type(new TextEncoder().encode('x'));
  session.resize({ columns: 10, rows: 10 });
  expect(attachment.done).toEqual([]);
  session.drive('take-over');
  attachment.listener!.role({ role: 'driver', columns: 90, rows: 30 });
  session.type(new TextEncoder().encode('y'));
  expect(attachment.done).toEqual(['take over', 'resize 90x30', 'write y']);
  expect(states.at(-1)).toMatchObject({ kind: 'attached', role: 'driver', size: { columns: 90, rows: 30 } });
});

test('one who asks tells the size it would have, waits, and hears that it is kept or that it drives', async () => {
  const attachment = new FakeAttachment('watcher');
  const { session, states } = begin([attachment]);
  await settle();
  session.drive('ask');
  expect(attachment.done).toEqual(['resize 90x30', 'ask']);
  expect(states.at(-1)).toMatchObject({ role: 'watcher', asked: 'waiting' });
  attachment.listener!.role({ role: 'watcher', columns: 40, rows: 10 });
  expect(states.at(-1)).toMatchObject({ asked: 'waiting', size: { columns: 40, rows: 10 } });
  attachment.listener!.kept!();
  expect(states.at(-1)).toMatchObject({ role: 'watcher', asked: 'kept' });
  attachment.listener!.role({ role: 'driver', columns: 90, rows: 30 });
  expect(states.at(-1)).toMatchObject({ role: 'driver', asked: 'no' });
});

test('a driver hears of those who ask, and answers', async () => {
  const attachment = new FakeAttachment('driver');
  const { session, states } = begin([attachment]);
  await settle();
  const asks = [{ client: 7, clientName: 'web:ada' }];
  attachment.listener!.asks!(asks);
  expect(states.at(-1)).toMatchObject({ role: 'driver', asks });
  session.answerAsk({ client: 7, handOver: true });
  expect(attachment.done).toEqual(['hand over to 7']);
  attachment.listener!.role({ role: 'watcher', columns: 90, rows: 30 });
  expect(states.at(-1)).toMatchObject({ asks: [] });
});

test('a wish is done once, where another one drives when it is attached', async () => {
  const [first, second] = [new FakeAttachment('watcher'), new FakeAttachment('watcher')];
  begin([first, second], 'take-over');
  await settle();
  first.listener!.closed();
  await vi.advanceTimersByTimeAsync(1_000);
  const third = new FakeAttachment('driver');
  begin([third], 'ask');
  await settle();
  expect([first.done, second.done, third.done]).toEqual([['take over', 'resize 90x30'], [], []]);
});

test('a lost terminal is attached again, until its session has ended', async () => {
  const [first, second] = [new FakeAttachment('driver'), new FakeAttachment('driver')];
  const { running, kinds, used } = begin([first, new FailureError('node-offline'), second]);
  await settle();
  first.listener!.closed();
  await vi.advanceTimersByTimeAsync(2_000);
  second.listener!.ended({ exitCode: 0, exitSignal: null });
  second.listener!.closed();
  await running;
  expect(kinds()).toEqual([
    'connecting',
    'attached',
    'waiting',
    'connecting',
    'waiting',
    'connecting',
    'attached',
    'ended',
  ]);
  expect(used.lines).toBe(0);
});

test('what waiting does not heal is not tried again', async () => {
  const { running, states } = begin([new FailureError('out-of-scope')]);
  await running;
  expect(states.at(-1)).toMatchObject({ kind: 'refused', error: { failure: { code: 'out-of-scope' } } });
});

test('a page that is left closes its terminal and gives its line back', async () => {
  const attachment = new FakeAttachment('driver');
  const { running, ending, used } = begin([attachment]);
  await settle();
  ending.abort();
  await running;
  expect(attachment.done).toEqual(['close']);
  expect(used.lines).toBe(0);
});

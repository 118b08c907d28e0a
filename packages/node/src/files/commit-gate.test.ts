import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FailureError } from '@roost/protocol';
import { Deadline } from '../deadline.ts';
import { CommitGate, settleBy } from './commit-gate.ts';
import { createFile } from './create-entry.ts';
import { PathFault } from './path-fault.ts';

const late = () => new FailureError('repository-entry-create-timed-out');

describe('a change that takes too long', () => {
  let root: string;
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'roost-gate-')));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('and has not begun did not happen, and does not happen when the work goes on', async () => {
    const gate = new CommitGate();
    let goOn: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    const work = held.then(() => createFile({ root, path: 'new', gate, log: pino({ level: 'silent' }) }));
    await expect(settleBy(Deadline.in(10), gate, work, late)).rejects.toThrow(
      'repository-entry-create-timed-out',
    );
    goOn();
    await expect(work).rejects.toMatchObject({ kind: 'canceled' });
    expect(existsSync(join(root, 'new'))).toBe(false);
  });

  it.each([
    ['done', (answer: { resolve: (value: string) => void }) => answer.resolve('done')],
    ['failed', (answer: { reject: (error: Error) => void }) => answer.reject(new PathFault('failed'))],
  ])('but was being made is waited for, and told as it ended: %s', async (outcome, end) => {
    const gate = new CommitGate();
    const answer = makeAnswer();
    gate.commit();
    const settled = settleBy(Deadline.in(1), gate, answer.promise, late).catch(
      (error: unknown) => (error as Error).message,
    );
    await new Promise((resolve) => setTimeout(resolve, 20));
    end(answer);
    expect(await settled).toBe(outcome);
  });
});

describe('the gate', () => {
  it('lets one of two pass, whoever comes first', () => {
    const committed = new CommitGate();
    committed.commit();
    expect(committed.cancel()).toBe(false);
    const canceled = new CommitGate();
    expect(canceled.cancel()).toBe(true);
    expect(() => canceled.commit()).toThrow(PathFault);
    expect(canceled.cancel()).toBe(true);
  });

  it('stays shut when the change is no longer wanted', () => {
    const gate = new CommitGate(() => {
      throw new FailureError('unknown-workspace');
    });
    expect(() => gate.commit()).toThrow('unknown-workspace');
    expect(gate.cancel()).toBe(true);
  });
});

function makeAnswer() {
  let resolve: (value: string) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<string>((...both) => ([resolve, reject] = both));
  return { promise, resolve, reject };
}

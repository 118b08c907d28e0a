import { describe, expect, it } from 'vitest';
import { ConnectionId, FailureError, type EventBody } from '@roost/protocol';
import { ControllerLease } from './controller-lease.ts';

const one = { connectionId: ConnectionId.parse(1), clientName: 'one' };
const two = { connectionId: ConnectionId.parse(2), clientName: 'two' };

function makeLease() {
  const events: EventBody[] = [];
  const timers = new Set<{ at: number; callback: () => void }>();
  const clock = { now: 1_000 };
  const lease = new ControllerLease({
    monotonicNow: () => clock.now,
    publishHolder: (change) => events.push(change),
    publishEnd: (change) => events.push(change),
    schedule: (milliseconds, callback) => {
      const timer = { at: clock.now + milliseconds, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  });
  const advance = (milliseconds: number) => {
    clock.now += milliseconds;
    for (const timer of [...timers]) {
      if (timer.at > clock.now) continue;
      timers.delete(timer);
      timer.callback();
    }
  };
  const reasons = () => events.map((event) => event.kind === 'controller-changed' && event.reason);
  return { lease, events, reasons, advance, timers };
}

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof FailureError) return error.failure.code;
    throw error;
  }
  return 'done';
}

describe('the controller lease', () => {
  it('moves lengths to the nearest bound and takes the default for none', () => {
    const { lease } = makeLease();
    expect(lease.acquire(one, 0, false).remainingMs).toBe(15_000);
    expect(lease.acquire(one, 1, false).remainingMs).toBe(1_000);
    expect(lease.acquire(one, 1e9, false).remainingMs).toBe(60_000);
    expect(lease.acquire(one, 2_500, false).remainingMs).toBe(2_500);
  });

  it('is held by one connection: another is refused and told who holds it', () => {
    const { lease } = makeLease();
    lease.acquire(one, 5_000, false);
    try {
      lease.acquire(two, 5_000, false);
      expect.unreachable();
    } catch (error) {
      expect((error as FailureError).failure).toMatchObject({
        code: 'controller-busy',
        details: { connectionId: 1, clientName: 'one', remainingMs: 5_000 },
      });
    }
    expect(lease.state).toMatchObject({ connectionId: 1 });
  });

  it('tells of every change of its holder, and of no renewal', () => {
    const { lease, reasons, advance } = makeLease();
    lease.acquire(one, 5_000, false);
    advance(4_000);
    lease.acquire(one, 5_000, false);
    lease.acquire(two, 5_000, true);
    lease.release(two.connectionId, 'released');
    lease.acquire(one, 5_000, false);
    lease.release(one.connectionId, 'disconnected');
    expect(reasons()).toEqual(['acquired', 'taken-over', 'released', 'acquired', 'disconnected']);
  });

  it('ends at its time to the millisecond, and says so without being asked', () => {
    const { lease, reasons, advance, timers } = makeLease();
    lease.acquire(one, 5_000, false);
    advance(4_999);
    expect(lease.state?.remainingMs).toBe(1);
    advance(1);
    expect(reasons()).toEqual(['acquired', 'expired']);
    expect(lease.state).toBeNull();
    expect(timers.size).toBe(0);
    expect(codeOf(() => lease.acquire(two, 0, false))).toBe('done');
  });

  it('lives on when it is renewed, also when the timer of before comes early', () => {
    const { lease, reasons, advance } = makeLease();
    lease.acquire(one, 1_000, false);
    advance(900);
    lease.acquire(one, 1_000, false);
    advance(999);
    expect(reasons()).toEqual(['acquired']);
    advance(1);
    expect(reasons()).toEqual(['acquired', 'expired']);
  });

  it('is given back by its holder alone', () => {
    const { lease, reasons } = makeLease();
    lease.acquire(one, 5_000, false);
    expect(lease.release(two.connectionId, 'released')).toBe(false);
    expect(lease.state).toMatchObject({ connectionId: 1 });
    expect(lease.release(one.connectionId, 'released')).toBe(true);
    expect(lease.release(one.connectionId, 'released')).toBe(false);
    expect(reasons()).toEqual(['acquired', 'released']);
  });

  it('admits its holder, a brief request when nobody holds it, and nobody else', () => {
    const { lease, events } = makeLease();
    const admit = (who: typeof one, brief: boolean) => codeOf(() => lease.admit(who.connectionId, brief));
    expect(admit(one, false)).toBe('controller-required');
    expect(admit(one, true)).toBe('done');
    expect(events).toEqual([]);
    lease.acquire(one, 5_000, false);
    expect(admit(one, false)).toBe('done');
    expect(admit(two, false)).toBe('controller-required');
    expect(admit(two, true)).toBe('controller-busy');
  });

  it('changes nothing when the new holder cannot be stored', () => {
    const lease = new ControllerLease({
      monotonicNow: () => 0,
      publishHolder: () => {
        throw new FailureError('storage-full');
      },
      publishEnd: () => undefined,
      schedule: () => () => undefined,
    });
    expect(codeOf(() => lease.acquire(one, 0, false))).toBe('storage-full');
    expect(lease.state).toBeNull();
  });
});

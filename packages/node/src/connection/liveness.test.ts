import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { Liveness, PING_MS, WRITE_DEADLINE_MS, type Peer } from './liveness.ts';

/** A connection of which only the numbers are real. */
class Numbers extends EventEmitter {
  isPaused = false;
  pings = 0;
  bytesWritten = 0;
  writableLength = 0;
  _handle = { writeQueueSize: 0 };
  now = 1_000;

  ping(): void {
    this.pings += 1;
  }
  watch(): Liveness {
    const peer = { webSocket: this, socket: this } as unknown as Peer;
    return new Liveness(peer, () => this.now);
  }
}

describe('liveness', () => {
  it('pings from time to time, and waits as long for the answer', () => {
    const peer = new Numbers();
    const liveness = peer.watch();
    peer.now += PING_MS - 1;
    expect([liveness.check(), peer.pings]).toEqual([null, 0]);
    peer.now += 1;
    expect([liveness.check(), peer.pings]).toEqual([null, 1]);
    peer.emit('pong');
    peer.now += PING_MS;
    expect([liveness.check(), peer.pings]).toEqual([null, 2]);
    peer.now += PING_MS - 1;
    expect(liveness.check()).toBe(null);
    peer.now += 1;
    expect(liveness.check()).toBe('no-pong');
  });

  it('waits for the answer to a ping that lies behind what is not read yet', () => {
    const peer = new Numbers();
    const liveness = peer.watch();
    peer.writableLength = 1_000_000;
    peer.bytesWritten = 1_000_000;
    for (let looks = 0; looks < 20; looks += 1) {
      peer.now += WRITE_DEADLINE_MS / 2;
      peer.writableLength -= 10;
      expect(liveness.check()).toBe(null);
    }
    expect(peer.pings).toBe(1);
    peer.writableLength = 0;
    peer.now += PING_MS - 1;
    expect(liveness.check()).toBe(null);
    peer.now += 1;
    expect(liveness.check()).toBe('no-pong');
  });

  it('lets go of a peer that takes nothing, however much is added', () => {
    const peer = new Numbers();
    const liveness = peer.watch();
    for (let looks = 0; looks < 3; looks += 1) {
      peer.bytesWritten += 1_000;
      peer.writableLength += 1_000;
      expect(liveness.check()).toBe(null);
      peer.now += WRITE_DEADLINE_MS / 3;
    }
    expect(liveness.check()).toBe('write-deadline');
  });

  it('sees a slow reader move within one large write', () => {
    const peer = new Numbers();
    const liveness = peer.watch();
    peer.bytesWritten = 8_000_000;
    peer.writableLength = 8_000_000;
    peer._handle.writeQueueSize = 8_000_000;
    for (let looks = 0; looks < 10; looks += 1) {
      expect(liveness.check()).toBe(null);
      peer.now += WRITE_DEADLINE_MS - 1;
      peer._handle.writeQueueSize -= 1;
    }
    expect(liveness.check()).toBe(null);
    peer.now += WRITE_DEADLINE_MS;
    expect(liveness.check()).toBe('write-deadline');
  });

  it('asks for no answer while nothing is read from the peer', () => {
    const peer = new Numbers();
    const liveness = peer.watch();
    peer.now += PING_MS;
    expect([liveness.check(), peer.pings]).toEqual([null, 1]);
    peer.isPaused = true;
    peer.now += 10 * PING_MS;
    expect(liveness.check()).toBe(null);
    peer.isPaused = false;
    expect([liveness.check(), peer.pings]).toEqual([null, 2]);
  });
});

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FrameReader } from '@roost/protocol/terminal-frames';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Children } from './children.ts';
import { ControlConnection } from './control-connection.ts';
import { ScreenPump } from './screen-pump.ts';
import { Tickets } from './tickets.ts';
import type { ChildState, KeeperEvent } from './wire.ts';

const SESSIONS = ['a'.repeat(16), 'b'.repeat(16)] as const;

let directory: string;
let server: Server;
let node: Socket;
let socket: Socket;
let children: Children;
let control: ControlConnection;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'roost-control-'));
  server = createServer().listen(join(directory, 's'));
  await once(server, 'listening');
  node = createConnection(join(directory, 's'));
  [socket] = (await once(server, 'connection')) as [Socket];
  node.pause();
  children = new Children(new ScreenPump(), {
    changed: (state) => control.changed(state),
    output: () => undefined,
  });
  control = new ControlConnection(socket, children, new Tickets());
});
afterEach(async () => {
  for (const { sessionId, exit } of children.list()) {
    if (exit === null) await children.stop(sessionId, 0);
    children.release(sessionId);
  }
  node.destroy();
  socket.destroy();
  server.close();
  rmSync(directory, { recursive: true, force: true });
});

const spawn = (sessionId: string): Promise<ChildState> =>
  children.spawn({
    sessionId,
    transport: 'pipe',
    file: '/bin/sh',
    argv: ['sh', '-c', 'exec sleep 600'],
    directory,
    environment: { PATH: process.env.PATH ?? '/bin:/usr/bin' },
    size: { columns: 80, rows: 24 },
    scrollbackLines: 0,
    note: 'n'.repeat(10_000),
  });

describe('a control connection whose node does not read', () => {
  it('holds few events, and tells the newest state of every session when it reads', async () => {
    for (const sessionId of SESSIONS) {
      const state = await spawn(sessionId);
      for (let round = 0; round < 2_000; round += 1) control.changed(state);
    }
    expect(socket.writableLength).toBeLessThan(2 * 1024 * 1024);
    for (const sessionId of SESSIONS) await children.stop(sessionId, 0);
    const reader = new FrameReader(1024 * 1024);
    const ended = new Set<string>();
    for await (const chunk of node) {
      for (const { payload } of reader.push(chunk as Buffer)) {
        const { state } = JSON.parse(Buffer.from(payload).toString()) as KeeperEvent;
        if (state.exit !== null) ended.add(state.sessionId);
      }
      if (ended.size === SESSIONS.length) break;
    }
    expect([...ended].sort()).toEqual([...SESSIONS]);
  });
});

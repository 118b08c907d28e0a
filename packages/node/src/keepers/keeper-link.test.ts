import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeeperId } from '@roost/protocol';
import { KeeperFrameKind, type ChildState } from '@roost/keeper/wire';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { KeeperFiles } from './keeper-files.ts';
import { KeeperLink, safeDetails } from './keeper-link.ts';

const ID = KeeperId.parse('a'.repeat(16));

const running: ChildState = {
  sessionId: 'b'.repeat(32),
  revision: 4,
  transport: 'pipe',
  pid: 4_000,
  processStart: '1',
  startedAt: 1,
  size: null,
  title: null,
  attachedClients: 0,
  note: '',
  exit: null,
  output: null,
};
const ended: ChildState = {
  ...running,
  revision: 5,
  exit: { exitCode: 3, exitSignal: null, endedAt: 2 },
};
function withoutRevision({ revision: _, ...state }: ChildState): ChildState {
  return state;
}

describe('a child that ends in the moment in which a node asks for the list', () => {
  it.each([
    { order: 'list, event', messages: [listOf(running), eventOf(ended)] },
    { order: 'event, list', messages: [eventOf(ended), listOf(running)] },
    {
      order: 'list, event of an older keeper',
      messages: [listOf(withoutRevision(running)), eventOf(withoutRevision(ended))],
    },
  ])('is known to have ended ($order)', async ({ messages }) => {
    const directory = mkdtempSync(join(tmpdir(), 'roost-link-'));
    onTestFinished(() => {
      rmSync(directory, { recursive: true });
    });
    const { link, told } = await linkTo(new KeeperFiles(directory), messages);
    await link.dial();
    expect(link.isConnected).toBe(true);
    expect(link.children.get(running.sessionId)?.exit).toEqual(ended.exit);
    expect(told.at(-1)?.[0]?.exit).toEqual(ended.exit);
  });
});

describe('closed while it connects', () => {
  it.each([
    ['before the keeper has listed its children', []],
    ['as the list comes', [listOf(running)]],
  ])('holds nobody up, and tells of no connection: %s', async (_, messages) => {
    const directory = mkdtempSync(join(tmpdir(), 'roost-link-'));
    onTestFinished(() => {
      rmSync(directory, { recursive: true });
    });
    const { link, told, asked } = await linkTo(new KeeperFiles(directory), messages);
    const dialled = link.dial();
    await asked;
    link.close();
    await dialled;
    expect(link.isConnected).toBe(false);
    expect(told).toEqual([]);
  });
});

/** A link to a keeper that answers the first request with these messages; `asked` resolves when it comes. */
async function linkTo(files: KeeperFiles, messages: readonly object[]) {
  const told: ChildState[][] = [];
  const asked = await scriptedKeeper(files.socket(ID), messages);
  const link = new KeeperLink(ID, {
    files,
    log: pino({ level: 'silent' }),
    events: {
      connected: ({ children }) => told.push([...children.values()]),
      changed: (_, state) => told.push([state]),
      output: () => undefined,
      dead: () => undefined,
      idle: () => undefined,
    },
  });
  onTestFinished(() => link.close());
  return { link, told, asked: asked.request };
}

function eventOf(state: ChildState): object {
  return { kind: 'event', state };
}

function listOf(...children: ChildState[]): object {
  return { kind: 'reply', id: 1, result: { children } };
}

/** u32 length of what follows | u8 kind | JSON */
function frame(message: object): Buffer {
  const json = Buffer.from(JSON.stringify(message));
  const header = Buffer.alloc(5);
  header.writeUInt32BE(json.length + 1);
  header[4] = KeeperFrameKind.control;
  return Buffer.concat([header, json]);
}

/** Answers the hello, and then the first request with these messages in one piece. */
async function scriptedKeeper(socketPath: string, messages: readonly object[]) {
  const welcome = { kind: 'welcome', wire: 2, keeperId: ID, pid: 1, version: '0' };
  let tellAsked: () => void = () => undefined;
  const request = new Promise<void>((resolve) => {
    tellAsked = resolve;
  });
  const server = createServer((socket) => {
    // Whoever hangs up may not have read everything.
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write(frame(welcome));
      socket.once('data', () => {
        socket.write(Buffer.concat(messages.map(frame)));
        tellAsked();
      });
    });
  });
  server.listen(socketPath);
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  return { request };
}

it('passes on which processes survived a stop, and nothing that the protocol cannot carry', () => {
  const pids = Array.from({ length: 100 }, (_, index) => String(index));
  expect(safeDetails({ pids, count: 100, forced: true, inner: { a: 1 }, nothing: null })).toEqual({
    pids: pids.slice(0, 64),
    count: 100,
    forced: true,
  });
  expect(safeDetails({ long: 'x'.repeat(5_000), longs: ['x'.repeat(5_000), 7] })).toEqual({
    long: 'x'.repeat(1_024),
    longs: ['x'.repeat(1_024)],
  });
});

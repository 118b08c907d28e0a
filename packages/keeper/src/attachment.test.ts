import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { FrameReader, TerminalFrameKind } from '@roost/protocol/terminal-frames';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Attachment } from './attachment.ts';
import { OutputRing } from './output-ring.ts';

const WINDOW_BYTES = 64 * 1024;
const SCREEN_BYTES = 10_000;

let directory: string;
let server: Server;
let client: Socket;
let socket: Socket;
let ring: OutputRing;
let attachment: Attachment;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'roost-attachment-'));
  server = createServer().listen(join(directory, 's'));
  await once(server, 'listening');
  client = createConnection(join(directory, 's'));
  [socket] = (await once(server, 'connection')) as [Socket];
  client.pause();
  ring = new OutputRing();
  attachment = new Attachment({
    socket,
    session: {
      ring,
      get parsedOffset() {
        return ring.end;
      },
      snapshot: () => Buffer.alloc(SCREEN_BYTES, 's'),
    },
    mode: 'drive',
    window: WINDOW_BYTES,
    columns: 80,
    rows: 24,
  });
});
afterEach(() => {
  attachment.close();
  client.destroy();
  socket.destroy();
  server.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Reads on, until `enough`. */
async function read(enough: (kind: number, payload: string) => boolean): Promise<void> {
  const reader = new FrameReader(1024 * 1024);
  for await (const chunk of client)
    for (const { kind, payload } of reader.push(chunk as Buffer))
      if (enough(kind, Buffer.from(payload).toString())) return;
}

describe('an attachment whose client does not read', () => {
  it('holds no more than a window and a screen, even when the client acknowledges what it never saw', async () => {
    attachment.sendScreen(0);
    let most = 0;
    for (let round = 0; round < 500; round += 1) {
      ring.append(Buffer.alloc(64 * 1024, 'o'));
      attachment.flush();
      attachment.acknowledged(0xffff_ffff);
      await turn();
      most = Math.max(most, socket.writableLength);
    }
    expect(most).toBeLessThan(3 * WINDOW_BYTES);
    // And it is served when it reads after all.
    let screens = 0;
    await read((kind) => kind === TerminalFrameKind.screen && (screens += 1) === 2);
    expect(screens).toBe(2);
  });

  it('gets a screen at the end, not bytes that the ring no longer holds', async () => {
    ring.append(Buffer.alloc(100, 'o'));
    attachment.sendScreen(0);
    // Nobody has looked at the attachment since: it does not know yet that it is behind.
    ring.append(Buffer.alloc(2 * ring.capacity, 'p'));
    attachment.end({ exitCode: 0, exitSignal: null });
    const kinds: number[] = [];
    await read((kind) => kinds.push(kind) > 0 && kind === TerminalFrameKind.ended);
    expect(kinds).toEqual([TerminalFrameKind.screen, TerminalFrameKind.screen, TerminalFrameKind.ended]);
  });

  it('gets what is owed and the end, however small its window', async () => {
    attachment.sendScreen(0);
    ring.append(Buffer.alloc(2 * WINDOW_BYTES, 'o'));
    attachment.end({ exitCode: 0, exitSignal: null });
    let output = 0;
    await read((kind, payload) => {
      if (kind === TerminalFrameKind.output) output += payload.length;
      return kind === TerminalFrameKind.ended;
    });
    expect(output).toBe(2 * WINDOW_BYTES);
  });

  it('holds few changes of its role, and tells the newest when it reads', async () => {
    const LAST = 100_000;
    for (let columns = 1; columns <= LAST; columns += 1)
      attachment.sendRole({ role: 'watcher', columns, rows: 1 });
    expect(socket.writableLength).toBeLessThan(2 * 1024 * 1024);
    await read((_, payload) => (JSON.parse(payload) as { columns: number }).columns === LAST);
  });
});

/** One client's terminal lane: its first frame shows the ticket, the rest drives its place at the session. */
import type { Socket } from 'node:net';
import {
  encodeJsonFrame,
  TERMINAL_LANE_VERSION,
  TerminalFrameKind,
  type AttachAnswer,
  type AttachRequest,
  type DriveAnswer,
} from '@roost/protocol/terminal-frames';
import type { Children } from './children.ts';
import { endSoon } from './closing.ts';
import { fieldsOf, flag, integer, text } from './fields.ts';
import type { AttachedClient } from './terminal-child.ts';
import type { Tickets } from './tickets.ts';

const CELLS_MAX = 1_000;

function attachRequestOf(payload: Uint8Array): AttachRequest {
  const fields = fieldsOf(JSON.parse(Buffer.from(payload).toString()), 'attach');
  return {
    version: integer(fields, 'version', 1, 1_000_000),
    ticket: text(fields, 'ticket', 128),
    columns: integer(fields, 'columns', 1, CELLS_MAX),
    rows: integer(fields, 'rows', 1, CELLS_MAX),
    window: integer(fields, 'window', 1, Number.MAX_SAFE_INTEGER),
  };
}

/** null: not understood. */
function driveAnswerOf(payload: Uint8Array): DriveAnswer | null {
  try {
    const fields = fieldsOf(JSON.parse(Buffer.from(payload).toString()), 'answer');
    return {
      client: integer(fields, 'client', 0, Number.MAX_SAFE_INTEGER),
      handOver: flag(fields, 'handOver'),
    };
  } catch {
    return null;
  }
}

export class AttachConnection {
  readonly #socket: Socket;
  #client: AttachedClient | null = null;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Opens the lane; on any doubt the client is told why and the connection ends. */
  open(payload: Uint8Array, children: Children, tickets: Tickets): void {
    try {
      const request = attachRequestOf(payload);
      const grant = request.version === TERMINAL_LANE_VERSION ? tickets.redeem(request.ticket) : null;
      if (grant === null) {
        this.#refuse(request.version === TERMINAL_LANE_VERSION ? 'attach-refused' : 'unsupported-protocol');
        return;
      }
      const terminal = children.terminal(grant.sessionId);
      this.#client = terminal.attach(this.#socket, request, grant, (role, size) => {
        const answer: AttachAnswer = {
          version: TERMINAL_LANE_VERSION,
          sessionId: grant.sessionId,
          columns: size.columns,
          rows: size.rows,
          role,
        };
        this.#socket.write(encodeJsonFrame(TerminalFrameKind.attached, answer));
      });
    } catch {
      this.#refuse('attach-refused');
    }
  }

  receive(kind: number, payload: Uint8Array): void {
    const client = this.#client;
    if (client === null) return;
    const view = new DataView(payload.buffer, payload.byteOffset, payload.length);
    switch (kind) {
      case TerminalFrameKind.input:
        client.input(payload);
        return;
      case TerminalFrameKind.resize: {
        if (payload.length < 4) return;
        const [columns, rows] = [view.getUint16(0), view.getUint16(2)];
        if (columns >= 1 && columns <= CELLS_MAX && rows >= 1 && rows <= CELLS_MAX)
          client.resize(columns, rows);
        return;
      }
      case TerminalFrameKind.acknowledge:
        if (payload.length >= 4) client.acknowledge(view.getUint32(0));
        return;
      case TerminalFrameKind.takeOver:
        client.takeOver();
        return;
      case TerminalFrameKind.askToDrive:
        client.askToDrive();
        return;
      case TerminalFrameKind.answerAsk: {
        const answer = driveAnswerOf(payload);
        if (answer !== null) client.answerAsk(answer);
        return;
      }
      default:
      // Kinds of a newer build are ignored.
    }
  }

  closed(): void {
    this.#client?.leave();
    this.#client = null;
  }

  #refuse(code: string): void {
    endSoon(this.#socket, encodeJsonFrame(TerminalFrameKind.refused, { code }));
  }
}

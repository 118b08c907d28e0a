/** The terminal lane over the connection to the node, for clients that cannot open the keeper's socket themselves. */
import * as z from 'zod';
import { SessionId } from '../ids.ts';
import { operation } from '../operation.ts';

/** One terminal on one connection; counts from 1. */
const TerminalChannel = z.int().positive().max(0xffff_ffff);

/** Terminals that one connection may have open. */
export const TERMINAL_CHANNELS_MAX = 64;

/**
 * Binary messages of the connection, both ways: u32 channel (big-endian) | bytes. The bytes of a channel are the terminal lane, cut anywhere
 * (`terminal-frames.ts`); a message without bytes ends the channel. The client's first frame is `attach` with the ticket.
 */
export const TERMINAL_CHANNEL_HEADER_BYTES = 4;

export const terminalOpen = operation({
  name: 'terminal.open',
  summary: 'Opens a channel of this connection to the terminal lane of a session, to watch it.',
  access: 'observer',
  capability: 'terminal-relay-v1',
  params: () =>
    z.strictObject({
      sessionId: SessionId,
      /** drive: may become the one whose keystrokes and size count; not for observers. */
      mode: z.enum(['drive', 'watch']),
    }),
  result: () =>
    z.object({
      channel: TerminalChannel,
      /** For the first frame on the channel; valid once. */
      ticket: z.string(),
    }),
  failures: [
    'observer-read-only',
    'unknown-session',
    'session-not-running',
    'unsupported-transport',
    'keeper-unavailable',
    'backend-busy',
  ],
});

export const terminalClose = operation({
  name: 'terminal.close',
  summary: 'Closes a channel; one that is closed already is none of its concern.',
  access: 'observer',
  capability: 'terminal-relay-v1',
  params: () => z.strictObject({ channel: TerminalChannel }),
  result: () => z.object({}),
  failures: [],
});

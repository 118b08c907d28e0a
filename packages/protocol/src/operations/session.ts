import * as z from 'zod';
import {
  ARGUMENTS_MAX,
  ARGUMENT_BYTES_MAX,
  ENVIRONMENT_ENTRIES_MAX,
  INPUT_BYTES_MAX,
  OUTPUT_PAGE_BYTES_MAX,
  SCREEN_LINES_MAX,
  STOP_GRACE_MS_DEFAULT,
  STOP_GRACE_MS_MAX,
  TERMINAL_CELLS_PER_SIDE_MAX,
  WAIT_MS_MAX,
} from '../bounds.ts';
import { AbsolutePath, KeeperId, RecordId, SessionId, SessionName, WorkspaceId } from '../ids.ts';
import { operation, sessionLock } from '../operation.ts';

const utf8Bytes = (text: string) => new TextEncoder().encode(text).length;
const boundedText = (maxBytes: number) =>
  z
    .string()
    .refine((text) => text.length <= maxBytes && utf8Bytes(text) <= maxBytes, `at most ${maxBytes} bytes`);

/** What goes into an argument list or an environment: no NUL. */
const launchText = boundedText(ARGUMENT_BYTES_MAX).refine((text) => !text.includes('\0'), 'no NUL');

export const TerminalSize = z.object({
  columns: z.int().min(1).max(TERMINAL_CELLS_PER_SIDE_MAX),
  rows: z.int().min(1).max(TERMINAL_CELLS_PER_SIDE_MAX),
});
export type TerminalSize = z.infer<typeof TerminalSize>;

/** `pty`: a terminal. `pipe`: structured standard input and output. */
export const Transport = z.enum(['pty', 'pipe']);
export type Transport = z.infer<typeof Transport>;

/**
 * starting: asked of a keeper, not confirmed. running. stopping: a stop is under way. exited: ended, with code or
 * signal. failed: never ran. lost: its keeper died, how it ended is unknown.
 */
export const SessionStatus = z.enum(['starting', 'running', 'stopping', 'exited', 'failed', 'lost']);
export type SessionStatus = z.infer<typeof SessionStatus>;
export const LIVE_STATUSES: readonly SessionStatus[] = ['starting', 'running', 'stopping'];

/** Why a session that is no longer live ended, where more than an exit status is known. */
export const EndReason = z.enum(['keeper-died', 'never-started', 'spawn-failed', 'stopped']);
export type EndReason = z.infer<typeof EndReason>;

export const SessionUsage = z.object({
  processes: z.int().nonnegative(),
  /** Percent of one core since the last look (or since its start, at the first). */
  cpuPercent: z.number().nonnegative(),
  residentBytes: z.int().nonnegative(),
});
export type SessionUsage = z.infer<typeof SessionUsage>;

export const Session = z.object({
  id: SessionId,
  recordId: RecordId,
  name: SessionName,
  provider: z.string(),
  transport: Transport,
  status: SessionStatus,
  workspaceId: WorkspaceId,
  directory: z.string(),
  command: z.array(z.string()),
  keeperId: KeeperId.nullable(),
  pid: z.int().nullable(),
  size: TerminalSize.nullable(),
  title: z.string().nullable(),
  createdAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
  /** Exit code; null while live, when ended by a signal, or when unknown. */
  exitCode: z.int().nullable(),
  /** Signal name, such as SIGKILL. */
  exitSignal: z.string().nullable(),
  endReason: EndReason.nullable(),
  attachedClients: z.int().nonnegative(),
  /** Present when asked for and live. */
  usage: SessionUsage.nullable(),
});
export type Session = z.infer<typeof Session>;

/** A name, a full id, or a unique prefix of an id (at least 2 digits). */
export const SessionSelector = z.string().min(1).max(64);

const EnvironmentName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,255}$/, 'an environment name is A-Z a-z 0-9 _');

export const SpawnRequest = z.strictObject({
  name: SessionName.optional(),
  /** Working directory; its workspace is the registered one around it, else one is registered. */
  directory: AbsolutePath,
  transport: Transport.default('pty'),
  /** A provider with arguments, or a plain command. */
  launch: z.discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('provider'),
      provider: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/),
      arguments: z.array(launchText).max(ARGUMENTS_MAX),
    }),
    z.strictObject({
      kind: z.literal('command'),
      command: z.array(launchText).min(1).max(ARGUMENTS_MAX),
    }),
  ]),
  size: TerminalSize.default({ columns: 80, rows: 24 }),
  /** Variables set for the child on top of the allow-list; values go to the child only, never to log or database. */
  environment: z
    .record(EnvironmentName, launchText)
    .refine((entries) => Object.keys(entries).length <= ENVIRONMENT_ENTRIES_MAX, 'too many variables')
    .default({}),
});
export type SpawnRequest = z.infer<typeof SpawnRequest>;

export const sessionSpawn = operation({
  name: 'session.spawn',
  summary: 'Starts an agent or a command as a durable session.',
  access: 'operator',
  capability: null,
  params: SpawnRequest,
  result: Session,
  failures: [
    'unknown-provider',
    'provider-not-installed',
    'command-not-found',
    'invalid-directory',
    'name-taken',
    'sessions-exhausted',
    'spawn-failed',
    'keeper-unavailable',
  ],
});

export const sessionList = operation({
  name: 'session.list',
  summary: 'Lists sessions, oldest first; ended ones only on demand.',
  access: 'observer',
  capability: null,
  params: z.strictObject({ includeEnded: z.boolean().default(false), withUsage: z.boolean().default(false) }),
  result: z.object({ sessions: z.array(Session), truncated: z.boolean() }),
  failures: [],
});

export const sessionResolve = operation({
  name: 'session.resolve',
  summary:
    'Finds one session by name, full id, or unique id prefix; a live one wins over an ended one of that name.',
  access: 'observer',
  capability: null,
  params: z.strictObject({ selector: SessionSelector }),
  result: Session,
  failures: ['unknown-session', 'ambiguous-session'],
});

export const sessionAttach = operation({
  name: 'session.attach',
  summary:
    'Gives a one-time ticket with which a client on this machine opens the terminal lane at the keeper.',
  access: 'operator',
  capability: 'terminal-attach-v1',
  params: z.strictObject({ sessionId: SessionId, mode: z.enum(['drive', 'watch']) }),
  result: z.object({
    /** Unix socket of the keeper that owns the session. */
    endpoint: z.string(),
    /** Secret, valid once and for `expiresInMs`. */
    ticket: z.string(),
    expiresInMs: z.int().positive(),
  }),
  failures: ['unknown-session', 'session-not-running', 'unsupported-transport', 'keeper-unavailable'],
});

export const sessionReadScreen = operation({
  name: 'session.readScreen',
  summary: 'Reads the screen of a terminal session as text, with as many lines of scrollback as asked for.',
  access: 'observer',
  capability: null,
  params: z.strictObject({
    sessionId: SessionId,
    /** Lines of scrollback above the screen. */
    scrollback: z.int().nonnegative().max(SCREEN_LINES_MAX).default(0),
  }),
  result: z.object({
    /** Text lines, top first, trailing blanks cut. The last `size.rows` (fewer after the exit) are the screen. */
    lines: z.array(z.string()),
    size: TerminalSize.nullable(),
    /** Zero-based; null when the session has ended. */
    cursor: z.object({ column: z.int(), row: z.int(), visible: z.boolean() }).nullable(),
    title: z.string().nullable(),
    alternateScreen: z.boolean(),
    /** True when older lines exist that were not asked for or are no longer kept. */
    truncated: z.boolean(),
  }),
  failures: ['unknown-session', 'unsupported-transport', 'keeper-unavailable', 'output-gone'],
});

export const sessionReadOutput = operation({
  name: 'session.readOutput',
  summary: 'Reads the output of a pipe session by absolute byte offset; can wait for more.',
  access: 'observer',
  capability: 'pipe-output-v1',
  params: z.strictObject({
    sessionId: SessionId,
    stream: z.enum(['stdout', 'stderr']),
    /** Absolute offset; below zero counts from the end. */
    offset: z.int(),
    maxBytes: z.int().positive().max(OUTPUT_PAGE_BYTES_MAX).default(OUTPUT_PAGE_BYTES_MAX),
    /** Milliseconds to wait when nothing is there yet. */
    waitMs: z.int().nonnegative().max(WAIT_MS_MAX).default(0),
  }),
  result: z.object({
    offset: z.int().nonnegative(),
    base64: z.string(),
    nextOffset: z.int().nonnegative(),
    /** Oldest offset still kept. */
    floor: z.int().nonnegative(),
    /** No more will come. */
    ended: z.boolean(),
  }),
  failures: ['unknown-session', 'unsupported-transport', 'output-gone'],
});

export const sessionInput = operation({
  name: 'session.input',
  summary:
    'Types or pastes text into a session as one uninterrupted unit; answers when everything was written.',
  access: 'operator',
  capability: null,
  params: z.strictObject({
    sessionId: SessionId,
    text: boundedText(INPUT_BYTES_MAX),
    /**
     * literal: typed; control characters are refused. paste: bracketed when the program asked for it, control
     * characters neutralised. raw: bytes as they are (pipe sessions: written to standard input).
     */
    framing: z.enum(['literal', 'paste', 'raw']),
    /** Press Enter afterwards (pipe sessions: end the line). */
    submit: z.boolean().default(false),
  }),
  result: z.object({ bytesWritten: z.int().nonnegative() }),
  failures: [
    'unknown-session',
    'session-not-running',
    'input-refused',
    'input-stalled',
    'keeper-unavailable',
  ],
});

export const sessionResize = operation({
  name: 'session.resize',
  summary: 'Sets the size of a terminal session.',
  access: 'operator',
  capability: null,
  params: z.strictObject({ sessionId: SessionId, size: TerminalSize }),
  result: z.object({}),
  failures: ['unknown-session', 'session-not-running', 'unsupported-transport', 'keeper-unavailable'],
});

export const sessionInterrupt = operation({
  name: 'session.interrupt',
  summary: 'Interrupts what runs: Ctrl-C in a terminal, SIGINT to the process group of a pipe session.',
  access: 'operator',
  capability: null,
  params: z.strictObject({ sessionId: SessionId }),
  result: z.object({}),
  failures: ['unknown-session', 'session-not-running', 'keeper-unavailable'],
});

export const sessionStop = operation({
  name: 'session.stop',
  summary:
    'Ends the whole process tree of a session: politely, then by force after the grace; answers when it is gone.',
  access: 'operator',
  capability: null,
  params: z.strictObject({
    sessionId: SessionId,
    force: z.boolean().default(false),
    graceMs: z.int().nonnegative().max(STOP_GRACE_MS_MAX).default(STOP_GRACE_MS_DEFAULT),
  }),
  result: z.object({ session: Session, forced: z.boolean(), processesEnded: z.int().nonnegative() }),
  failures: ['unknown-session', 'keeper-unavailable', 'stop-incomplete'],
});

export const sessionRemove = operation({
  name: 'session.remove',
  summary: 'Forgets an ended session and its kept output.',
  access: 'operator',
  capability: null,
  params: z.strictObject({ sessionId: SessionId }),
  result: z.object({}),
  failures: ['unknown-session', 'session-running'],
  locks: (params) => [sessionLock(params.sessionId)],
});

export const sessionWait = operation({
  name: 'session.wait',
  summary: 'Waits until a session has ended, or the time is over; answers its state.',
  access: 'observer',
  capability: null,
  params: z.strictObject({ sessionId: SessionId, waitMs: z.int().nonnegative().max(WAIT_MS_MAX) }),
  result: Session,
  failures: ['unknown-session'],
});

import * as z from 'zod';
import { TurnOutcome } from '../agent-event.ts';
import { boundedText } from '../bounded-text.ts';
import {
  ARGUMENTS_MAX,
  ARGUMENT_BYTES_MAX,
  ENVIRONMENT_ENTRIES_MAX,
  INITIAL_PROMPT_BYTES_MAX,
  INPUT_BYTES_MAX,
  OUTPUT_PAGE_BYTES_MAX,
  SCREEN_LINES_MAX,
  STOP_GRACE_MS_DEFAULT,
  STOP_GRACE_MS_MAX,
  TERMINAL_BYTES_MAX,
  PROMPT_WAIT_MS_MAX,
  WAIT_MS_MAX,
} from '../bounds.ts';
import { gated, ProviderId } from '../gates.ts';
import { AbsolutePath, LeaseId, SessionAddress, SessionId, SessionName } from '../ids.ts';
import { InteractionPolicy } from '../interaction.ts';
import { operation, sessionLock } from '../operation.ts';
import { SessionOptions } from '../session-options.ts';
import { Session, Transport } from '../session.ts';
import { TerminalSize } from '../terminal-size.ts';

/** What goes into an argument list or an environment: no NUL. */
const launchText = boundedText(ARGUMENT_BYTES_MAX).refine((text) => !text.includes('\0'), 'no NUL');

/** Refusals of an address that does not name a session as it is now. */
const ADDRESS_FAILURES = ['unknown-session', 'session-workspace-mismatch', 'stale-generation'] as const;

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
      provider: ProviderId,
      arguments: z.array(launchText).max(ARGUMENTS_MAX),
      /** In front of the arguments, which win where they say the same. */
      options: gated('session-options-v1', SessionOptions.optional()),
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
  /** How what the agent asks is answered without a person; of sessions that are spoken with. */
  interactions: gated('agent-conversation-v1', InteractionPolicy.optional()),
  /** The managed worktree in which the directory lies: nothing else starts there. */
  leaseId: gated('managed-worktree-spawn-v2', LeaseId.optional()),
});
export type SpawnRequest = z.infer<typeof SpawnRequest>;

export const sessionSpawn = operation({
  name: 'session.spawn',
  summary: 'Starts an agent or a command as a durable session.',
  access: 'controller',
  capability: null,
  params: () => SpawnRequest,
  result: () => Session,
  failures: [
    'unknown-provider',
    'provider-not-installed',
    'session-option-unsupported',
    'command-not-found',
    'invalid-directory',
    'name-taken',
    'sessions-exhausted',
    'records-exhausted',
    'workspaces-exhausted',
    'workspace-busy',
    'worktree-changing',
    'worktree-managed',
    'unknown-worktree-lease',
    'worktree-recovery-required',
    'spawn-failed',
    'keeper-unavailable',
  ],
});

export const sessionList = operation({
  name: 'session.list',
  summary: 'Lists sessions, oldest first; ended ones only on demand.',
  access: 'observer',
  capability: null,
  params: () =>
    z.strictObject({ includeEnded: z.boolean().default(false), withUsage: z.boolean().default(false) }),
  result: () => z.object({ sessions: z.array(Session), truncated: z.boolean() }),
  failures: [],
});

export const sessionResolve = operation({
  name: 'session.resolve',
  summary:
    'Finds one session by name, full id, or unique id prefix; a live one wins over an ended one of that name.',
  access: 'observer',
  capability: null,
  params: () => z.strictObject({ selector: SessionSelector }),
  result: () => Session,
  failures: ['unknown-session', 'ambiguous-session'],
});

export const sessionAttach = operation({
  name: 'session.attach',
  summary:
    'Gives a one-time ticket with which a client on this machine opens the terminal lane at the keeper.',
  access: 'operator',
  capability: 'terminal-attach-v1',
  params: () => z.strictObject({ sessionId: SessionId, mode: z.enum(['drive', 'watch']) }),
  result: () =>
    z.object({
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
  params: () =>
    z.strictObject({
      sessionId: SessionId,
      /** Lines of scrollback above the screen. */
      scrollback: z.int().nonnegative().max(SCREEN_LINES_MAX).default(0),
    }),
  result: () =>
    z.object({
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
  params: () =>
    z.strictObject({
      sessionId: SessionId,
      stream: z.enum(['stdout', 'stderr']),
      /** Absolute offset; below zero counts from the end. */
      offset: z.int(),
      maxBytes: z.int().positive().max(OUTPUT_PAGE_BYTES_MAX).default(OUTPUT_PAGE_BYTES_MAX),
      /** Milliseconds to wait when nothing is there yet. */
      waitMs: z.int().nonnegative().max(WAIT_MS_MAX).default(0),
    }),
  result: () =>
    z.object({
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
  access: 'controller',
  capability: null,
  params: () =>
    SessionAddress.extend({
      text: boundedText(INPUT_BYTES_MAX),
      /**
       * literal: typed; control characters are refused. paste: bracketed when the program asked for it, control
       * characters neutralised. raw: bytes as they are (pipe sessions: written to standard input).
       */
      framing: z.enum(['literal', 'paste', 'raw']),
      /** Press Enter afterwards (pipe sessions: end the line). */
      submit: z.boolean().default(false),
    }),
  result: () => z.object({ bytesWritten: z.int().nonnegative() }),
  failures: [
    ...ADDRESS_FAILURES,
    'session-not-running',
    'unsupported-transport',
    'input-refused',
    'input-stalled',
    'keeper-unavailable',
  ],
});

export const PromptDelivery = z.enum(['queued', 'written', 'accepted', 'answered']);
/**
 * queued: the node has it. written: the program's terminal or standard input has taken all of it. accepted: the agent is known
 * to have begun with it. answered: its turn is over.
 */
export type PromptDelivery = z.infer<typeof PromptDelivery>;

export const sessionPrompt = operation({
  name: 'session.prompt',
  summary:
    'Gives an agent a prompt, whole and once, when its composer waits and is empty; answers how far it is known to have come. Refused where a prompt is not known to arrive.',
  access: 'controller',
  capability: 'prompt-delivery-v1',
  params: () =>
    SessionAddress.extend({
      text: boundedText(INPUT_BYTES_MAX),
      /** How far it has to come before the answer; refused when the session cannot tell. */
      until: PromptDelivery.default('written'),
      /** Milliseconds that `accepted` and `answered` are waited for. After that, the answer is how far it is known to have come. */
      waitMs: z.int().nonnegative().max(PROMPT_WAIT_MS_MAX).default(120_000),
    }),
  result: () =>
    z.object({
      delivery: PromptDelivery,
      bytesWritten: z.int().nonnegative(),
      /** Of a session that is spoken with: its turn stands in the timeline from here on. */
      position: gated('agent-conversation-v1', z.int().nonnegative().nullable().optional()),
      /** How the turn ended, once it is answered. */
      outcome: gated('agent-conversation-v1', TurnOutcome.nullable().optional()),
    }),
  failures: [
    ...ADDRESS_FAILURES,
    'session-not-running',
    'turn-in-flight',
    'backend-busy',
    'unsupported-transport',
    'agent-not-ready',
    'composer-occupied',
    'prompt-unsupported',
    'delivery-unprovable',
    'input-refused',
    'input-stalled',
    'keeper-unavailable',
  ],
});

export const sessionPaste = operation({
  name: 'session.paste',
  summary: "Puts text into an agent's composer without sending it.",
  access: 'controller',
  capability: null,
  params: () => SessionAddress.extend({ text: boundedText(INPUT_BYTES_MAX) }),
  result: () => z.object({ bytesWritten: z.int().nonnegative() }),
  failures: [
    ...ADDRESS_FAILURES,
    'session-not-running',
    'turn-in-flight',
    'unsupported-transport',
    'prompt-unsupported',
    'input-refused',
    'input-stalled',
    'keeper-unavailable',
  ],
});

export const sessionSendBytes = operation({
  name: 'session.sendBytes',
  summary: 'Writes 1 to 64 bytes of UTF-8 to a terminal as they are.',
  access: 'controller',
  capability: null,
  params: () =>
    SessionAddress.extend({
      base64: z.base64().refine((text) => {
        const bytes = (text.length / 4) * 3 - (/=*$/.exec(text)?.[0].length ?? 0);
        return bytes >= 1 && bytes <= TERMINAL_BYTES_MAX;
      }, `1 to ${TERMINAL_BYTES_MAX} bytes`),
    }),
  result: () => z.object({}),
  failures: [
    ...ADDRESS_FAILURES,
    'session-not-running',
    'unsupported-transport',
    'input-stalled',
    'keeper-unavailable',
  ],
});

/** Keys that have a name. */
export const TerminalKey = z.enum([
  'enter',
  'tab',
  'back-tab',
  'escape',
  'backspace',
  'delete',
  'insert',
  'up',
  'down',
  'right',
  'left',
  'home',
  'end',
  'page-up',
  'page-down',
  'interrupt',
  'end-of-file',
  'suspend',
  'f1',
  'f2',
  'f3',
  'f4',
  'f5',
  'f6',
  'f7',
  'f8',
  'f9',
  'f10',
  'f11',
  'f12',
]);
export type TerminalKey = z.infer<typeof TerminalKey>;

export const sessionSendKey = operation({
  name: 'session.sendKey',
  summary: 'Presses a key that has a name.',
  access: 'controller',
  capability: null,
  params: () => SessionAddress.extend({ key: TerminalKey }),
  result: () => z.object({}),
  failures: [
    ...ADDRESS_FAILURES,
    'session-not-running',
    'unsupported-transport',
    'input-stalled',
    'keeper-unavailable',
  ],
});

export const sessionResize = operation({
  name: 'session.resize',
  summary: 'Sets the size of a terminal session.',
  access: 'controller',
  capability: null,
  params: () => SessionAddress.extend({ size: TerminalSize }),
  result: () => z.object({}),
  failures: [...ADDRESS_FAILURES, 'session-not-running', 'unsupported-transport', 'keeper-unavailable'],
});

export const sessionInterrupt = operation({
  name: 'session.interrupt',
  summary:
    'Interrupts what runs: the keys or the message that end a turn of an agent, Ctrl-C in other terminals, SIGINT to the process group of other pipe sessions.',
  access: 'controller',
  capability: null,
  params: () => SessionAddress,
  result: () => z.object({}),
  failures: [...ADDRESS_FAILURES, 'session-not-running', 'keeper-unavailable'],
});

export const sessionAcknowledge = operation({
  name: 'session.acknowledge',
  summary:
    'Somebody has seen that the turn of an agent is finished: done becomes idle. Attaching does the same.',
  access: 'controller',
  capability: 'session-activity-v1',
  params: () => SessionAddress,
  result: () => z.object({}),
  failures: ADDRESS_FAILURES,
});

export const sessionStop = operation({
  name: 'session.stop',
  summary:
    'Ends the whole process tree of a session: politely, then by force after the grace; answers when it is gone.',
  access: 'controller',
  capability: null,
  params: () =>
    SessionAddress.extend({
      force: z.boolean().default(false),
      graceMs: z.int().nonnegative().max(STOP_GRACE_MS_MAX).default(STOP_GRACE_MS_DEFAULT),
    }),
  result: () => z.object({ session: Session, forced: z.boolean(), processesEnded: z.int().nonnegative() }),
  failures: [...ADDRESS_FAILURES, 'keeper-unavailable', 'stop-incomplete'],
});

export const sessionRemove = operation({
  name: 'session.remove',
  summary: 'Forgets an ended session and its kept output.',
  access: 'controller',
  capability: null,
  params: () => SessionAddress,
  result: () => z.object({}),
  failures: [...ADDRESS_FAILURES, 'session-running'],
  locks: (params) => [sessionLock(params.sessionId)],
});

export const sessionResume = operation({
  name: 'session.resume',
  summary: 'Runs an ended session on at its provider, as the next run of its record; answers that run.',
  access: 'controller',
  capability: null,
  params: () =>
    SessionAddress.extend({
      size: TerminalSize.default({ columns: 80, rows: 24 }),
      prompt: boundedText(INITIAL_PROMPT_BYTES_MAX).optional(),
    }),
  result: () => Session,
  failures: [
    ...ADDRESS_FAILURES,
    'session-running',
    'unknown-session-record',
    'session-record-busy',
    'session-record-not-resumable',
    'session-record-conflict',
    'unknown-workspace',
    'workspace-busy',
    'worktree-changing',
    'worktree-managed',
    'worktree-recovery-required',
    'unknown-provider',
    'provider-not-installed',
    'prompt-unsupported',
    'invalid-directory',
    'sessions-exhausted',
    'spawn-failed',
    'spawn-deadline-exceeded',
    'keeper-unavailable',
  ],
});

export const sessionFollowOutput = operation({
  name: 'session.followOutput',
  summary:
    'Sends this connection the output of a pipe session from an offset on, in order: first what is kept, then what comes. One following a session and stream.',
  access: 'observer',
  capability: 'agent-stream-events-v1',
  params: () =>
    z.strictObject({
      sessionId: SessionId,
      stream: z.enum(['stdout', 'stderr']),
      /** Absolute offset; below zero counts from the end. */
      offset: z.int(),
    }),
  /** Where it begins: later than asked for when that is no longer kept. */
  result: () => z.object({ offset: z.int().nonnegative() }),
  failures: ['unknown-session', 'unsupported-transport'],
});

export const sessionUnfollowOutput = operation({
  name: 'session.unfollowOutput',
  summary: 'Ends that following.',
  access: 'observer',
  capability: 'agent-stream-events-v1',
  params: () => z.strictObject({ sessionId: SessionId, stream: z.enum(['stdout', 'stderr']) }),
  result: () => z.object({}),
  failures: [],
});

export const sessionWait = operation({
  name: 'session.wait',
  summary: 'Waits until a session has ended, or the time is over; answers its state.',
  access: 'observer',
  capability: null,
  params: () => z.strictObject({ sessionId: SessionId, waitMs: z.int().nonnegative().max(WAIT_MS_MAX) }),
  result: () => Session,
  failures: ['unknown-session'],
});

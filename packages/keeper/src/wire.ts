/**
 * The private protocol between a node and its keepers, versioned on its own: a newer node must adopt an older keeper.
 * Framing is that of the terminal lane (`@roost/protocol/terminal-frames`); the first frame of a connection tells what
 * it is: `control` here, or `attach` there.
 *
 *   node                                 keeper
 *     control hello           ->
 *                             <-   control welcome | control refused
 *     control request         ->
 *                             <-   control reply           (order of completion)
 *                             <-   control event
 *                             <-   pipeOutput              (binary, pushed until `acknowledge`d; resumes at an offset)
 */
export const KEEPER_WIRE_MIN = 1;
/** 2 adds `nextFrame` and `ChildState.revision`; 3 adds `ChildState.inputEnd`. */
export const KEEPER_WIRE_MAX = 3;

export const KeeperFrameKind = {
  /** JSON: `KeeperRequest` or hello from the node; welcome, refused, reply, event from the keeper. */
  control: 64,
  /** u8 length of the session id | id (ASCII) | u8 stream (1 stdout, 2 stderr) | u64 offset (big-endian) | bytes */
  pipeOutput: 65,
} as const;

/** Bytes of one control frame: a 16 MiB input, JSON-escaped. */
export const KEEPER_FRAME_BYTES_MAX = 64 * 1024 * 1024;

export type PipeStream = 'stdout' | 'stderr';

export interface KeeperHello {
  readonly kind: 'hello';
  readonly wire: { readonly min: number; readonly max: number };
}

export interface KeeperWelcome {
  readonly kind: 'welcome';
  readonly wire: number;
  readonly keeperId: string;
  readonly pid: number;
  /** Version of Roost that this keeper was started from. */
  readonly version: string;
}

/** Everything a keeper needs to start a child. It decides nothing: paths are absolute, the environment is complete. */
export interface ChildLaunch {
  readonly sessionId: string;
  readonly transport: 'pty' | 'pipe';
  /** Absolute path of the executable. */
  readonly file: string;
  /** argv[0] and the arguments. */
  readonly argv: readonly string[];
  readonly directory: string;
  /** The child's whole environment, but for the marker and the terminal variables that the keeper adds. */
  readonly environment: Readonly<Record<string, string>>;
  readonly size: { readonly columns: number; readonly rows: number };
  /** Lines of scrollback kept (pty). */
  readonly scrollbackLines: number;
  /** Opaque text of the node, given back in `ChildState`: enough to rebuild its row from. At most 64 KiB. */
  readonly note: string;
}

export interface ChildExit {
  /** null when ended by a signal. */
  readonly exitCode: number | null;
  readonly exitSignal: string | null;
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
}

export interface ChildState {
  readonly sessionId: string;
  /** Grows with every event of this child: an answer can be overtaken by a later event. Missing before wire 2. */
  readonly revision?: number;
  readonly transport: 'pty' | 'pipe';
  readonly pid: number;
  /** Identity beside the pid: start time as the process table gives it. */
  readonly processStart: string;
  readonly startedAt: number;
  readonly size: { readonly columns: number; readonly rows: number } | null;
  readonly title: string | null;
  readonly attachedClients: number;
  readonly note: string;
  /** null while it runs. */
  readonly exit: ChildExit | null;
  /** First offset that the node has not acknowledged, and end of what was read (pipe). */
  readonly output: Readonly<Record<PipeStream, { readonly floor: number; readonly end: number }>> | null;
  /**
   * Bytes of input that were accepted since its start (pipe): they are written in that order, or the input is closed. So a node
   * that was killed while it wrote learns what need not be written again. Missing before wire 3.
   */
  readonly inputEnd?: number;
}

/** What reading a screen answers: shapes as in `session.readScreen` of the protocol. */
export interface ScreenText {
  readonly lines: readonly string[];
  readonly size: { readonly columns: number; readonly rows: number };
  readonly cursor: { readonly column: number; readonly row: number; readonly visible: boolean };
  readonly title: string | null;
  readonly alternateScreen: boolean;
  readonly truncated: boolean;
}

/** The screen at one moment, to be drawn and to be read. */
export interface ScreenFrame extends Omit<ScreenText, 'truncated'> {
  /** Grows with every change of this child's screen. */
  readonly revision: number;
  /** Terminal text that draws it on a terminal of that size in any state. */
  readonly drawing: string;
  /** The child has ended: nothing follows. */
  readonly ended: boolean;
}

/**
 * Requests by name. Failures are codes of the protocol's closed list: `unknown-session`, `session-not-running`,
 * `unsupported-transport`, `spawn-failed`, `input-refused`, `input-stalled`, `invalid-request`, `stop-incomplete`,
 * `session-running`.
 */
export interface KeeperCalls {
  /** Idempotent: a session id that is already held answers its state. */
  spawn: { params: ChildLaunch; result: ChildState };
  list: { params: Record<string, never>; result: { children: ChildState[] } };
  /** One uninterrupted unit; answers when all of it was written. */
  input: {
    params: { sessionId: string; text: string; framing: 'literal' | 'paste' | 'raw'; submit: boolean };
    result: { bytesWritten: number };
  };
  resize: { params: { sessionId: string; columns: number; rows: number }; result: Record<string, never> };
  interrupt: { params: { sessionId: string }; result: Record<string, never> };
  /** Ends the whole tree; answers when it is gone. `graceMs` 0 = by force at once. */
  stop: {
    params: { sessionId: string; graceMs: number };
    result: { state: ChildState; forced: boolean; processesEnded: number };
  };
  readScreen: { params: { sessionId: string; scrollback: number }; result: ScreenText };
  /**
   * The screen as soon as it is newer than a revision, or final. Whoever asks again at its own pace gets the newest and
   * nothing between; while nobody asks, a change costs nothing. Wire 2.
   */
  nextFrame: { params: { sessionId: string; after: number }; result: ScreenFrame };
  /** A secret for one attach connection. */
  grantAttach: {
    params: { sessionId: string; mode: 'drive' | 'watch'; clientName?: string };
    result: { ticket: string; expiresInMs: number };
  };
  /** Starts (or restarts, at other offsets) pushing pipe output to this connection. */
  followOutput: {
    params: { sessionId: string; offsets: Readonly<Record<PipeStream, number>> };
    result: Record<string, never>;
  };
  /** The node has stored the stream up to `offset`: the keeper may drop it. */
  acknowledge: {
    params: { sessionId: string; stream: PipeStream; offset: number };
    result: Record<string, never>;
  };
  /** The node has stored the exit record: the keeper forgets the child. Refused with `session-running` while it runs. */
  release: { params: { sessionId: string }; result: Record<string, never> };
  status: {
    params: Record<string, never>;
    result: { children: number; attachments: number; residentBytes: number };
  };
}
export type KeeperCall = keyof KeeperCalls;

export interface KeeperRequest<Call extends KeeperCall = KeeperCall> {
  readonly kind: 'request';
  readonly id: number;
  readonly call: Call;
  readonly params: KeeperCalls[Call]['params'];
}

export type KeeperReply =
  | { readonly kind: 'reply'; readonly id: number; readonly result: unknown }
  | {
      readonly kind: 'failure';
      readonly id: number;
      readonly code: string;
      readonly details?: Record<string, unknown>;
    };

/** State after the change: title, size, attached clients, exit. Sent at most once per 100 ms and child for the first three. */
export interface KeeperEvent {
  readonly kind: 'event';
  readonly state: ChildState;
}

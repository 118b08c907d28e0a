/** Numeric limits of the protocol. Every bound has a unit and a reason; both sides enforce them. */

/** Terminal rows and columns, each 1..1000: beyond that, no real screen; protects the emulator's memory. */
export const TERMINAL_CELLS_PER_SIDE_MAX = 1000;
/** Bytes (UTF-8) of a working directory or workspace root: more than the systems that the node runs on resolve. */
export const PATH_BYTES_MAX = 4_096;
/** Bytes (UTF-8) of a path inside a workspace. */
export const REPOSITORY_PATH_BYTES_MAX = 1_024;
/** Bytes of a file in a workspace that is read or replaced as text: what people edit; JSON-escaped, it fits into a frame. */
export const WORKSPACE_FILE_BYTES_MAX = 256 * 1024;
/** Bytes (UTF-8) of one input request; after neutralisation too. */
export const INPUT_BYTES_MAX = 16 * 1024 * 1024;
/** Milliseconds between the text and its Enter: today's agent CLIs take a nearer Enter as part of the paste. */
export const SUBMIT_DELAY_MS = 500;
/** Characters of a session name. */
export const NAME_LENGTH_MAX = 64;
/** Arguments of one command. */
export const ARGUMENTS_MAX = 1024;
/** Bytes (UTF-8) of one argument or one environment value: Linux' own limit for a single string. */
export const ARGUMENT_BYTES_MAX = 131_072;
/** Bytes (UTF-8) of one session option, and tools that one may name. */
export const SESSION_OPTION_BYTES_MAX = 512;
export const SESSION_OPTION_TOOLS_MAX = 64;
/** Providers that people define for one node, and bytes of each file. */
export const USER_PROVIDERS_MAX = 64;
export const USER_PROVIDER_BYTES_MAX = 64 * 1024;
/** Environment variables that one launch may name. */
export const ENVIRONMENT_ENTRIES_MAX = 512;
/** Bytes of one frame from a client: small, because it is held before anybody knows what it asks. */
export const CLIENT_FRAME_BYTES_MAX = 256 * 1024;
/** Bytes of one request that travels in parts: one maximal input, JSON-escaped, and its envelope. */
export const REQUEST_BYTES_MAX = 34 * 1024 * 1024;
/** Bytes of unfinished and running long requests of all connections together. */
export const LONG_REQUESTS_BYTES_MAX = 72 * 1024 * 1024;
/** Bytes of one control frame from the node: lists that would not fit are cut, and say so. */
export const NODE_FRAME_BYTES_MAX = 8 * 1024 * 1024;
/** Milliseconds for each of the two frames with which a client proves itself. */
export const HANDSHAKE_TIMEOUT_MS = 5_000;
/** Bytes of a handshake frame, either way. */
export const HANDSHAKE_FRAME_BYTES_MAX = 8_192;
/** Connections that have not proved themselves yet. */
export const PREAUTH_CONNECTIONS_MAX = 32;
/** Connections that have, unless the configuration says otherwise. */
export const CONNECTIONS_DEFAULT = 16;
/** The most that a configuration may ask for. */
export const CONNECTIONS_MAX = 1_024;
/** Milliseconds of a controller lease: shortest, when none is named, longest. Others are moved to the nearest bound. */
export const LEASE_MS_MIN = 1_000;
export const LEASE_MS_DEFAULT = 15_000;
export const LEASE_MS_MAX = 60_000;
/** Milliseconds that a spawn spec may take, at most. */
export const SPAWN_DEADLINE_MS_MAX = 120_000;
/** Bytes of an idempotency key, of a profile id, of a revision. */
export const IDEMPOTENCY_KEY_BYTES_MAX = 128;
export const PROFILE_ID_BYTES_MAX = 64;
export const REVISION_BYTES_MAX = 128;
/** Spawn profiles of a node. */
export const SPAWN_PROFILES_MAX = 64;
/** Worktree profiles of a node: the list of them fits into every snapshot. */
export const WORKTREE_PROFILES_MAX = 64;
/** Managed worktrees that are not removed yet, and as many removed ones that are remembered. */
export const WORKTREE_LEASES_MAX = 128;
/** Milliseconds that one set-up or tear-down command may take: at most, and when the profile names none. */
export const WORKTREE_COMMAND_MS_MAX = 600_000;
export const WORKTREE_COMMAND_MS_DEFAULT = 120_000;
/** Set-up or tear-down commands of one profile. */
export const WORKTREE_COMMANDS_MAX = 16;
/** Bytes kept of the output of one set-up or tear-down, the last ones: that is where the fault is told. */
export const WORKTREE_OUTPUT_BYTES_MAX = 16 * 1024;
/** Paths that a profile lets be copied into a new worktree; each is a file or a directory. */
export const WORKTREE_COPY_PATHS_MAX = 64;
/** Files and bytes that one copying may take: settings, not dependencies. */
export const WORKTREE_COPY_FILES_MAX = 1_000;
export const WORKTREE_COPY_BYTES_MAX = 64 * 1024 * 1024;
/** Ports of one managed worktree. */
export const WORKTREE_PORTS_MAX = 100;
/** Bytes (UTF-8) of a branch name: longer ones do not fit into a file name beside git's own suffix. */
export const BRANCH_BYTES_MAX = 240;
/** Capabilities that one spawn spec may require. */
export const REQUIRED_CAPABILITIES_MAX = 16;
/** Bytes (UTF-8) of an initial prompt. */
export const INITIAL_PROMPT_BYTES_MAX = 32_768;
/** Bytes of one write of raw terminal bytes. */
export const TERMINAL_BYTES_MAX = 64;
/** Workspaces of one node: all of them fit into one answer, whatever their paths. */
export const WORKSPACES_MAX = 512;
/** Records of one node. */
export const RECORDS_MAX = 4_096;
/** Milliseconds that a resume may take until its process runs. */
export const RESUME_TIMEOUT_MS = 30_000;
/** Events or frames that one connection gets before its requests are looked at again. */
export const EVENT_BURST_MAX = 16;
/** Sessions in one list answer; the answer says when it was cut. */
export const SESSIONS_LISTED_MAX = 10_000;
/** Durable events in one page. */
export const EVENTS_PAGE_MAX = 1_000;
/** Bytes of pipe output in one page, before base64. */
export const OUTPUT_PAGE_BYTES_MAX = 1024 * 1024;
/** Lines of scrollback that one screen read may ask for. */
export const SCREEN_LINES_MAX = 100_000;
/** Milliseconds that a waiting read may stay open. */
export const WAIT_MS_MAX = 60_000;
/** Milliseconds that a prompt may be waited for: turns take long. */
export const PROMPT_WAIT_MS_MAX = 3_600_000;
/** Milliseconds of grace that a stop may ask for. */
export const STOP_GRACE_MS_MAX = 600_000;
/** Milliseconds of grace when a stop names none. */
export const STOP_GRACE_MS_DEFAULT = 5_000;
/** Sessions that one node holds, live and ended together: the oldest ended ones make room; live ones never do. */
export const SESSIONS_MAX = 512;
/** Entries of one git status; the answer says when it was cut. */
export const GIT_STATUS_ENTRIES_MAX = 2_000;
/** Commits in one page of history. */
export const GIT_HISTORY_PAGE_MAX = 50;
/** Files in one diff; the answer says when the list was cut. */
export const GIT_DIFF_FILES_MAX = 2_000;
/** Bytes (UTF-8) of the text of one diff, of everything together or of one path. */
export const GIT_PATCH_BYTES_MAX = 512 * 1024;
/** Bytes of a revision that a caller names. */
export const GIT_REVISION_BYTES_MAX = 1_024;
/** Bytes (UTF-8) of the subject of a commit, and of a name or address in it; longer ones are cut. */
export const GIT_SUBJECT_BYTES_MAX = 512;
export const GIT_PERSON_BYTES_MAX = 320;

/** Milliseconds that git may take to make or remove a worktree. */
export const WORKTREE_DEADLINE_MS_MAX = 180_000;
/** Entries of a tree in one inspection, and how deep it goes: what a person can take in. */
export const INSPECTED_ENTRIES_MAX = 512;
export const INSPECTED_DEPTH_MAX = 6;
/** Entries of git's status, recent commits, and worktrees in one inspection. */
export const INSPECTED_STATUS_MAX = 128;
export const INSPECTED_COMMITS_MAX = 12;
export const INSPECTED_WORKTREES_MAX = 512;
/** Milliseconds that one inspection may take: unless the configuration says otherwise, and the most that it may say. */
export const INSPECTION_MS_DEFAULT = 8_000;
export const INSPECTION_MS_MAX = 11_000;
/** Entries that one inspection may look at: likewise. */
export const INSPECTION_VISITS_DEFAULT = 50_000;
export const INSPECTION_VISITS_MAX = 1_000_000;
/** Directories in one page. */
export const DIRECTORIES_PAGE_MAX = 256;
/** Sessions of providers in one page: unless asked otherwise, and at most. */
export const HISTORY_PAGE_DEFAULT = 64;
export const HISTORY_PAGE_MAX = 256;
/** Milliseconds that a change of such a session counts as recent: a week. */
export const HISTORY_RECENT_MS = 7 * 24 * 60 * 60 * 1_000;
/** Messages in one preview: unless asked otherwise, and at most. */
export const HISTORY_PREVIEW_DEFAULT = 12;
export const HISTORY_PREVIEW_MAX = 24;
/** Messages in one page of a conversation: with the longest texts they fit into a frame. */
export const HISTORY_READ_MAX = 64;
/** Bytes (UTF-8) of one message, and of one in a preview: longer ones are cut. */
export const HISTORY_TEXT_BYTES_MAX = 16 * 1024;
export const HISTORY_PREVIEW_TEXT_BYTES_MAX = 4 * 1024;
/** Bytes (UTF-8) of a title. */
export const HISTORY_TITLE_BYTES_MAX = 256;
/** Names of tools with one message. */
export const HISTORY_TOOLS_MAX = 64;

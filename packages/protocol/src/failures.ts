import * as z from 'zod';

/**
 * The closed list of failure codes with their fixed sentences. The wire carries code, sentence and safe details (ids,
 * limits, names that the caller gave); prose from the system stays in the node's log.
 */
export const FAILURE_SENTENCES = {
  'invalid-request': 'The request is malformed or out of bounds.',
  'unknown-operation': 'This node does not offer that operation.',
  'unsupported-capability': 'The peer does not offer a capability that this needs.',
  'unsupported-protocol': 'Client and node share no protocol version.',
  'connections-exhausted': 'Too many connections are open.',
  unauthorized: 'The proof of the token is wrong, or the token does not give that role.',
  'observer-read-only': 'An observer may only look.',
  'controller-busy': 'Another connection controls this node.',
  'controller-required': 'This needs the controller lease.',
  'request-timed-out': 'The request took longer than its deadline; it may still land.',
  'connection-lost': 'The connection to the node was lost before the answer came.',
  'node-not-running': 'No node runs for this state directory.',
  'node-unresponsive': 'The node holds its socket but does not answer.',
  'node-start-failed': 'The node could not be started.',
  'node-already-running': 'Another node holds this state directory.',
  'home-unusable': 'The state directory cannot be used.',
  'home-path-too-long': 'The state directory is too long for a socket path.',
  'database-corrupt': 'The database is damaged; nothing was changed.',
  'database-too-new': 'The database was written by a newer Roost.',
  'storage-full': 'The disk is full; the change was not made.',
  'storage-failed': 'The change could not be stored; it was not made.',
  'shutting-down': 'The node is shutting down.',
  'backend-busy': 'The node does as much of that at once as it may; try again.',
  'internal-error': 'Something unexpected went wrong; the node log has the details.',
  'unknown-workspace': 'No workspace has that id.',
  'invalid-workspace-root': 'The workspace root is not an accessible directory.',
  'duplicate-workspace-id': 'A workspace with that id exists already.',
  'duplicate-workspace-root': 'That directory is registered already.',
  'workspace-busy': 'The workspace still has sessions.',
  'standalone-workspace-recovery-required':
    'The repository was begun and is not registered; nothing of it was deleted.',
  'host-directory-invalid': 'That is no directory of this machine.',
  'host-directory-read-failed': 'The directory could not be read.',
  'host-directory-read-timed-out': 'The directory could not be read in time.',
  'workspaces-exhausted': 'The node holds as many workspaces as it may.',
  'unknown-provider': 'No provider has that name.',
  'provider-not-installed': 'The program of that provider was not found.',
  'session-option-unsupported': 'The provider has no such session option, or none with that value.',
  'command-not-found': 'The command was not found or is not executable.',
  'invalid-directory': 'The working directory is not an accessible directory.',
  'name-taken': 'Another one has that name.',
  'records-exhausted': 'The node holds as many records as it may.',
  'session-workspace-mismatch': 'The session is in another workspace.',
  'stale-generation': 'The address is of another run of the session.',
  'unknown-session-record': 'No record matches.',
  'session-record-busy': 'A run of the record lives.',
  'session-record-not-resumable': 'The record cannot be resumed.',
  'session-record-conflict': 'The record changed meanwhile, or another one stands against it.',
  'history-unsupported': 'What that provider keeps of its sessions cannot be read.',
  'unknown-history-session': 'No provider keeps a session of that id.',
  'ambiguous-history-session': 'More than one kept session matches.',
  'stale-history-cursor': 'The list or session is another one now; begin again.',
  'history-unreadable': 'What the provider keeps of that session cannot be read now.',
  'history-too-large': 'The session is too large to be read as a whole; its newest messages can be.',
  'workspace-registration-required': 'The session ran outside of every registered workspace.',
  'turn-in-flight': 'The agent is at work; it takes no prompt now.',
  'agent-not-ready': 'The agent does not wait for a prompt now; nothing was written.',
  'composer-occupied': "Something stands in the agent's composer already; nothing was written.",
  'prompt-unsupported': 'A prompt is not known to arrive in this session.',
  'delivery-unprovable': 'This session cannot tell whether a prompt came that far.',
  'unknown-choice': 'The agent offers no such choice now.',
  'unknown-interaction': 'No agent asks that.',
  'interaction-settled': 'That was settled already.',
  'interaction-reply-refused': 'What the agent asks does not take that answer.',
  'spawn-target-mismatch': 'The launch is meant for another node.',
  'unknown-spawn-profile': 'No spawn profile has that id.',
  'spawn-profile-revision-mismatch': 'The spawn profile has another revision than expected.',
  'unsupported-spawn-capability': 'The launch requires what this provider does not offer here.',
  'spawn-idempotency-conflict': 'That idempotency key belongs to another launch.',
  'spawn-idempotency-capacity': 'Too many launches of this client are remembered.',
  'spawn-deadline-exceeded': 'The launch did not come to run in time; nothing is left of it.',
  'unknown-environment-profile': 'No environment profile has that id.',
  'unknown-bundle': 'No bundle has that id.',
  'unknown-context-pack': 'No context pack has that id.',
  'sessions-exhausted': 'The node holds as many sessions as it may.',
  'spawn-failed': 'The process could not be started.',
  'keeper-unavailable': 'The keeper of this session cannot be reached.',
  'unknown-session': 'No session matches.',
  'ambiguous-session': 'More than one session matches.',
  'session-running': 'The session is still running.',
  'session-not-running': 'The session is not running.',
  'session-lost': 'The process that held the session is gone; how the session ended is unknown.',
  'unsupported-transport': 'The session has no terminal, or needs one for this.',
  'input-refused': 'The text holds characters that cannot be typed.',
  'input-stalled': 'The program in the session stopped reading; not everything was written.',
  'stop-incomplete': 'Some processes of the session could not be ended.',
  'attach-refused': 'The attach ticket is unknown, used, or expired.',
  'output-gone': 'The asked-for output is no longer kept.',
  'repository-path-unsafe': "The path leads through a link, out of the workspace, or into git's own files.",
  'repository-access-unavailable': 'This machine lacks what opening files safely beneath a directory needs.',
  'repository-file-not-found': 'There is no such file in the workspace.',
  'repository-file-not-regular': 'It is not a regular file.',
  'repository-file-not-text': 'The file is not text, or larger than what is shown and changed here.',
  'repository-file-read-failed': 'The file could not be read.',
  'repository-file-read-timed-out': 'Reading the file took too long.',
  'repository-file-write-failed': 'The file could not be replaced; it is as it was.',
  'repository-file-write-timed-out': 'Replacing the file took too long; it was not done and will not be.',
  'repository-file-revision-conflict': 'The file changed meanwhile; it was left as it is.',
  'repository-entry-already-exists': 'Something of that name is there already.',
  'repository-parent-not-found': 'The directory that it should be in is not there.',
  'repository-parent-not-directory': 'What it should be in is not a directory.',
  'repository-entry-create-failed': 'It could not be made.',
  'repository-entry-create-timed-out': 'Making it took too long; it was not done and will not be.',
  'git-not-installed': 'The node finds no git.',
  'git-timed-out': 'Git did not answer in time.',
  'git-failed': 'Git could not do it; the node log has the details.',
  'git-ownership-refused': 'Git refuses the repository because it belongs to another user.',
  'not-git-repository': 'The directory is in no git repository.',
  'no-working-tree': 'The repository has no working tree.',
  'invalid-revision': 'The repository has no such commit.',
  'unknown-worktree-profile': 'No worktree profile has that id.',
  'worktree-profile-revision-mismatch': 'The worktree profile has another revision than expected.',
  'worktree-profile-unusable': 'Worktrees cannot be made where the profile says.',
  'unknown-worktree-lease': 'No managed worktree has that id.',
  'worktrees-exhausted': 'The node holds as many managed worktrees as it may.',
  'worktree-ports-exhausted': 'No free ports in a row are left for the worktree.',
  'worktree-managed': 'A managed worktree owns that; only launches into it may use it.',
  'worktree-setup-failed': 'The worktree was made, and its set-up failed; no session was started.',
  'worktree-teardown-failed': 'The tear-down of the worktree failed; it was not removed.',
  'worktree-choice-refused': 'What is known of the worktree does not allow that.',
  'worktree-missing': 'The directory of the worktree is gone.',
  'worktree-not-owned': 'What is there is not the worktree that was made.',
  'session-base-unknown': 'It is not known from which commit the session started.',
  'worktree-conflict': 'Something stands where the worktree would be.',
  'worktree-protected': 'That is no worktree that may be removed or chosen here.',
  'worktree-dirty': 'The worktree holds something that would be lost.',
  'worktree-locked': 'The worktree is locked.',
  'worktree-in-use': 'Sessions live in the worktree.',
  'worktree-recovery-required': 'What was begun with the worktree did not end; it was left as it is.',
  'worktree-service-mode': 'Worktrees of that workspace are made and removed in another way, or not at all.',
  'worktree-changing': 'The worktree is being made or removed; try again.',
  'branch-exists': 'The branch exists already; nothing was done with it.',
  'hub-not-running': 'No hub runs for this state directory.',
  'hub-already-running': 'Another hub holds this state directory.',
  'hub-unreachable': 'The hub cannot be reached.',
  'hub-untrusted': 'What answers there is not the hub that it should be.',
  'unknown-hub': 'This node belongs to no such hub.',
  'unknown-node': 'No enrolled node has that name or id.',
  'ambiguous-node': 'More than one node matches.',
  'node-offline': 'The hub has no line to that node now; nothing was asked of it.',
  'stale-incarnation': 'The node was started anew since; nothing was asked of it.',
  'outcome-unknown': 'The line to the node was lost before the answer came; it may have been done.',
  unauthenticated: 'Nobody is logged in, or the token, code or link is not good any more.',
  forbidden: 'Your role does not allow that.',
  'out-of-scope': 'That lies outside of what you may see.',
  'origin-refused': 'The request came from another page, or for another host.',
  'rate-limited': 'Too many attempts; try again later.',
  'invite-invalid': 'The invitation is unknown, used, or expired.',
  'already-enrolled':
    'A node of that id is enrolled at the hub already; an admin there has to remove it first.',
  'unknown-user': 'No user has that name.',
  'last-admin': 'Without that one nobody could administer the hub.',
  'unknown-token': 'No token of yours has that id.',
} as const;

export type FailureCode = keyof typeof FAILURE_SENTENCES;
export const FAILURE_CODES = Object.keys(FAILURE_SENTENCES) as [FailureCode, ...FailureCode[]];

/** Characters of one text in the details; longer ones are cut, never refused: a failure has to arrive. */
const DETAIL_CHARACTERS_MAX = 4_096;
/** Texts of one list in the details. */
const DETAIL_ENTRIES_MAX = 64;

const FailureDetail = z.union([
  z.string().max(DETAIL_CHARACTERS_MAX),
  z.number(),
  z.boolean(),
  z.array(z.string().max(DETAIL_CHARACTERS_MAX)).max(DETAIL_ENTRIES_MAX),
]);
type FailureDetail = z.infer<typeof FailureDetail>;

/** An expected refusal. `details` holds only ids, names, limits and paths that the caller may see. */
export const Failure = z.object({
  code: z.enum(FAILURE_CODES),
  message: z.string(),
  details: z.record(z.string(), FailureDetail).optional(),
});
export type Failure = z.infer<typeof Failure>;
export type FailureDetails = NonNullable<Failure['details']>;

export function failure(code: FailureCode, details?: FailureDetails): Failure {
  const message = FAILURE_SENTENCES[code];
  if (details === undefined) return { code, message };
  const clipped = Object.entries(details).map(([name, detail]) => [name, clip(detail)] as const);
  return { code, message, details: Object.fromEntries(clipped) };
}

function clip(detail: FailureDetail): FailureDetail {
  if (typeof detail === 'string') return clipText(detail);
  return Array.isArray(detail) ? detail.slice(0, DETAIL_ENTRIES_MAX).map(clipText) : detail;
}

function clipText(text: string): string {
  if (text.length <= DETAIL_CHARACTERS_MAX) return text;
  // No half of a surrogate pair before the ellipsis.
  return `${text.slice(0, DETAIL_CHARACTERS_MAX - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Carries a failure through code that throws. `cause` is for the local log and never crosses the wire. */
export class FailureError extends Error {
  readonly failure: Failure;
  constructor(code: FailureCode, details?: FailureDetails, options?: { cause?: unknown }) {
    const value = failure(code, details);
    super(`${value.code}: ${value.message}`, options);
    this.name = 'FailureError';
    this.failure = value;
  }
  static from(value: Failure): FailureError {
    return new FailureError(value.code, value.details);
  }
}

/**
 * What a person reads when something was refused: code and sentence on the first line, what to try next on the second.
 * The sentences are the protocol's; the hints are ours, because only a command line can name commands.
 */
import type { Failure, FailureCode, FailureDetails } from '@roost/protocol';
import { printable } from './printable.ts';

type Hint = string | ((details: FailureDetails) => string | undefined);

/** Every code has one: nobody is left with a refusal alone. */
const HINTS: Readonly<Record<FailureCode, Hint>> = {
  'invalid-request': (details) => text(details, 'reason') ?? text(details, 'issues'),
  'unknown-operation': 'roost api   lists the operations',
  'unsupported-capability':
    'roost down && roost up   restarts the node from this version; sessions go on running',
  'unsupported-protocol':
    'roost down && roost up   restarts the node from this version; sessions go on running',
  'connections-exhausted': 'close some attached clients, or look with: roost status',
  unauthorized: 'roost token   prints the token of this node; an observer token only looks',
  'observer-read-only': 'the token of an operator may act: roost token',
  'controller-busy': (details) => {
    const holder = text(details, 'clientName');
    const connection = text(details, 'connectionId');
    const who =
      holder === undefined || connection === undefined ? '' : `${holder}, connection ${connection}; `;
    return `${who}roost controller   shows who; roost controller break   ends its lease`;
  },
  'controller-required': 'roost controller hold   takes it',
  'request-timed-out': (details) =>
    `roost status   tells whether the node answers${launches(details) ? '; the same --idempotency-key asks again' : ''}`,
  'connection-lost': 'try again; roost status   tells whether the node runs',
  'node-not-running': 'roost up   starts it',
  'node-unresponsive':
    'is it stopped or very busy? roost doctor   looks; a stopped node wants: kill -CONT PID',
  'node-start-failed': (details) => {
    const reason = text(details, 'reason');
    const log = text(details, 'log');
    return [reason, log === undefined ? 'roost up --foreground   shows why' : `see ${log}`]
      .filter((part) => part !== undefined)
      .join('; ');
  },
  'node-already-running': 'it does not answer yet; try again, or look with: roost doctor',
  'home-unusable': (details) =>
    `${[text(details, 'path') ?? text(details, 'socket'), text(details, 'reason')].filter((part) => part !== undefined).join(': ')}; choose another with --home DIR or ROOST_HOME`,
  'home-path-too-long': ({ path, length, limit }) =>
    typeof path === 'string' && typeof length === 'number' && typeof limit === 'number'
      ? `${path} has ${length} bytes, at most ${limit} fit; choose a shorter directory with --home DIR or ROOST_HOME`
      : 'choose a shorter directory with --home DIR or ROOST_HOME',
  'database-corrupt': (details) =>
    withPath(details, 'left as it is; restore a copy, or move node.db and node.db-wal away, then: roost up'),
  'database-too-new': 'run the newer Roost, or choose another state directory with --home DIR',
  'storage-full': 'free some space, then try again',
  'storage-failed': 'roost doctor   looks at the state directory',
  'shutting-down': 'wait a moment, then try again',
  'backend-busy': 'try again in a moment',
  'internal-error': 'roost doctor   names the log',
  'unknown-choice': 'roost timeline NAME   shows what can be chosen',
  'unknown-interaction': 'roost answer   lists what is asked',
  'interaction-settled': 'roost answer --all   shows how',
  'interaction-reply-refused': 'roost answer   shows its options',
  'unknown-workspace': 'roost workspace ls   lists them',
  'duplicate-workspace-id': 'choose another with --id',
  'duplicate-workspace-root': (details) => named(details, 'workspaceId', (id) => `it is workspace ${id}`),
  'workspace-busy': 'roost ls   shows its sessions; roost stop NAME   ends one',
  'standalone-workspace-recovery-required': (details) => {
    const root = text(details, 'root') ?? 'DIR';
    return `look at ${root}; when it is as wanted: roost workspace add ${root}`;
  },
  'host-directory-invalid': 'roost workspace browse /   starts at the top',
  'host-directory-read-failed': 'the node may not look into it',
  'host-directory-read-timed-out': 'try again; a disk of the network may be away',
  'workspaces-exhausted': 'roost workspace ls   lists them; roost workspace rm ID   makes room',
  'repository-path-unsafe': (details) =>
    withPath(details, 'name it by where it really is; what is in .git is changed by git alone'),
  'repository-access-unavailable': 'roost doctor   names the log; Linux needs /proc',
  'repository-file-not-found': (details) => withPath(details, 'roost files new PATH   makes an empty file'),
  'repository-file-not-regular': (details) => withPath(details, 'only regular files are read and written'),
  'repository-file-not-text': (details) => {
    const limit = text(details, 'limitBytes');
    const bound = limit === undefined ? '' : ` of up to ${limit} bytes`;
    return withPath(details, `only text${bound} is shown and changed here`);
  },
  'repository-file-read-failed': (details) => withPath(details, 'roost doctor   names the log'),
  'repository-file-read-timed-out': (details) => withPath(details, 'does its file system answer? try again'),
  'repository-file-write-failed': (details) => withPath(details, 'roost doctor   names the log'),
  'repository-file-write-timed-out': (details) => withPath(details, 'does its file system answer? try again'),
  'repository-file-revision-conflict': (details) => {
    const current = text(details, 'revision');
    const now = current === undefined ? '' : `it is ${current} now; `;
    return withPath(details, `${now}roost files cat PATH   shows it; --revision R   replaces what you saw`);
  },
  'repository-entry-already-exists': (details) => withPath(details, 'choose another name'),
  'repository-parent-not-found': (details) =>
    withPath(details, 'roost files mkdir PATH   makes one directory'),
  'repository-parent-not-directory': (details) => withPath(details, 'choose another directory'),
  'repository-entry-create-failed': (details) => withPath(details, 'roost doctor   names the log'),
  'repository-entry-create-timed-out': (details) =>
    withPath(details, 'does its file system answer? try again'),
  'unknown-provider': 'roost provider ls   lists them; a command goes after --: roost run -- COMMAND',
  'provider-not-installed': (details) =>
    `roost provider check ${text(details, 'provider') ?? 'NAME'}   tells how to install it`,
  'session-option-unsupported': (details) => {
    const values = text(details, 'values')?.replaceAll('; ', ', ');
    const provider = text(details, 'provider') ?? 'NAME';
    if (values !== undefined) return `${text(details, 'option') ?? 'the option'} is one of: ${values}`;
    return `no ${text(details, 'option') ?? 'such option'}; roost provider show ${provider}   lists what it has`;
  },
  'command-not-found': 'the node looks in the PATH it was started with; an absolute path always works',
  'invalid-workspace-root': (details) =>
    details.workspaceId === undefined
      ? 'roost workspace add DIR   takes a directory that is there; roost workspace new DIR   one that is empty, or not there yet'
      : stale(details, 'it is gone, or no directory'),
  'invalid-directory': (details) =>
    details.historyId === undefined
      ? 'choose another with --cwd DIR'
      : 'the directory that it ran in is gone; a session is resumed there or not at all',
  'name-taken': 'choose another with --name, or: roost ls --all',
  'sessions-exhausted': 'roost rm NAME   forgets ended ones',
  'records-exhausted': 'roost records ls   lists them; roost records forget NAME   makes room',
  'spawn-failed': 'roost doctor   looks at the providers and names the log',
  'keeper-unavailable': 'roost doctor   looks at the keepers',
  'unknown-session': 'roost ls --all   lists them',
  'ambiguous-session': (details) => {
    const candidates = details.candidates;
    return Array.isArray(candidates) ? `one of: ${candidates.join(', ')}` : 'roost ls --all   lists them';
  },
  'session-workspace-mismatch': 'roost ls --all   tells where it is',
  'stale-generation': 'it was resumed meanwhile; roost ls   shows the run that lives',
  'unknown-session-record': 'roost records ls   lists them',
  'history-unsupported': 'roost provider ls   lists the agents; not all keep what can be read',
  'unknown-history-session': 'roost history ls --all   lists them',
  'ambiguous-history-session': (details) => {
    const candidates = details.candidates;
    return Array.isArray(candidates) ? `one of: ${candidates.join(', ')}` : 'roost history ls   lists them';
  },
  'stale-history-cursor': 'ask again without a cursor',
  'history-unreadable': 'roost history ls   tells what could not be read; roost doctor   names the log',
  'history-too-large': (details) =>
    named(details, 'historyId', (id) => `roost history show ${id}   shows its newest messages`),
  'workspace-registration-required':
    'roost workspace add DIR   registers the directory that it ran in, or one around it; then try again',
  'session-record-busy': 'it runs already; roost attach NAME   returns to it',
  'session-record-not-resumable':
    'roost records show NAME   tells what is known of it; roost run   starts anew',
  'session-record-conflict': 'roost records show NAME   shows it as it is now',
  'turn-in-flight': 'roost attach NAME   shows its work; roost interrupt NAME   interrupts it',
  'agent-not-ready': notReady,
  'composer-occupied': 'roost attach NAME   shows it; send or clear it, then try again',
  'prompt-unsupported': 'roost send NAME TEXT --paste --enter   types it like a person',
  'delivery-unprovable': 'roost prompt NAME TEXT --until written   is what this session can tell',
  'spawn-target-mismatch': 'the state directory has another node now; try again',
  'unknown-spawn-profile': 'roost profile ls   lists them',
  'spawn-profile-revision-mismatch': (details) => {
    const current = text(details, 'revision');
    return `${current === undefined ? '' : `it is ${current}; `}roost profile ls   shows the current ones`;
  },
  'unsupported-spawn-capability': 'leave --require out, or choose another transport with --set transport=...',
  'spawn-idempotency-conflict': 'choose another --idempotency-key, or repeat the first words exactly',
  'spawn-idempotency-capacity': 'wait some minutes: settled launches make room by themselves',
  'spawn-deadline-exceeded': 'give it longer with --deadline SECONDS',
  'unknown-environment-profile': 'leave it out with --clear environment-profile',
  'unknown-bundle': 'leave it out with --clear bundle',
  'unknown-context-pack': 'leave it out with --clear context',
  'output-gone': 'roost logs NAME   shows what is kept',
  'session-running': 'roost stop NAME   ends it',
  'session-not-running': 'roost logs NAME   shows what is kept of it',
  'session-lost': 'roost ls --all   shows what is known of it',
  'unsupported-transport': 'roost logs NAME   reads a session without a terminal',
  'input-refused': 'roost send NAME TEXT --paste   neutralises control characters',
  'input-stalled': 'roost attach NAME   shows what it does; roost interrupt NAME   interrupts it',
  'stop-incomplete': 'roost stop NAME --force   kills at once',
  'attach-refused': 'try again',
  'git-not-installed': 'install git; the node looks in the PATH it was started with',
  'git-timed-out': (details) =>
    details.undone === true ? UNDONE : 'try again; a very large repository may need: git maintenance run',
  'git-failed': (details) => (details.undone === true ? UNDONE : 'git status   in the repository tells more'),
  'git-ownership-refused': 'git config --global --add safe.directory DIR   trusts it',
  'not-git-repository': (details) =>
    details.registeredAs === 'git'
      ? stale(details, 'it was one; something else is there now')
      : 'git init   makes one',
  'no-working-tree': 'it is a bare repository; use one of its worktrees',
  'invalid-revision': (details) => {
    const revision = text(details, 'revision') ?? '';
    if (revision === 'HEAD') return 'there is no commit yet; git commit   makes the first';
    return revision.startsWith('refs/heads/')
      ? 'git branch   lists branches'
      : 'roost git log   lists commits';
  },
  'session-base-unknown': 'roost git diff   shows what is not committed yet',
  'unknown-worktree-profile': 'roost worktree profiles   lists them',
  'worktree-profile-revision-mismatch': 'roost worktree profiles   shows the current ones; then try again',
  'worktree-profile-unusable': (details) => text(details, 'reason') ?? 'roost worktree profiles   tells why',
  'unknown-worktree-lease': 'roost worktree leases   lists them',
  'worktrees-exhausted': 'roost worktree leases   lists them; roost worktree rm LEASE   takes one away',
  'worktree-ports-exhausted': 'roost worktree leases   lists them; roost worktree rm LEASE   frees its ports',
  'worktree-managed': (details) => {
    const leaseId = text(details, 'leaseId') ?? 'LEASE';
    return `roost run PROVIDER --worktree-lease ${leaseId}   launches into it; roost worktree rm ${leaseId}   takes it away`;
  },
  'worktree-setup-failed': (details) =>
    `roost worktree resolve ${text(details, 'leaseId') ?? 'LEASE'}   shows its output, and what can be done`,
  'worktree-teardown-failed': (details) =>
    `roost worktree resolve ${text(details, 'leaseId') ?? 'LEASE'}   shows its output, and what can be done`,
  'worktree-choice-refused': (details) => {
    const choices = details.choices;
    return Array.isArray(choices) && choices.length > 0
      ? `possible: ${choices.join(', ')}`
      : 'nothing can be decided about it now';
  },
  'worktree-missing': 'roost worktree resolve LEASE   shows what is known',
  'worktree-not-owned': 'roost worktree resolve LEASE   shows what is there, and what can be done',
  'worktree-conflict': (details) => {
    const why = text(details, 'why');
    if (why === 'no-parent') return 'the directory above it is not there; choose another with --path DIR';
    if (why === 'still-listed') return 'roost worktree rm PATH   forgets the one that was there';
    return 'choose another place with --path DIR';
  },
  'worktree-protected': (details) =>
    PROTECTED[text(details, 'why') ?? ''] ?? 'roost worktree ls   lists them',
  'worktree-dirty': whatWouldBeLost,
  'worktree-locked': (details) => {
    const reason = text(details, 'reason');
    return `${reason === undefined || reason === '' ? '' : `${reason}; `}git worktree unlock PATH   unlocks it`;
  },
  'worktree-in-use': 'roost ls   shows its sessions; roost stop NAME   ends one',
  'worktree-recovery-required': (details) => {
    const leaseId = text(details, 'leaseId');
    return leaseId === undefined
      ? 'roost worktree ls   shows it; git status   there tells more'
      : `roost worktree resolve ${leaseId}   shows what is known, and what can be done`;
  },
  'worktree-changing': 'try again in a moment; roost worktree ls   shows it',
  'worktree-service-mode': (details) => `the workspace is set to ${text(details, 'mode') ?? 'another mode'}`,
  'hub-not-running': 'roost hub up   starts one on this machine; roost login URL   uses one elsewhere',
  'hub-already-running': 'roost hub status   tells how it is',
  'hub-unreachable': (details) =>
    withPath(details, 'is the address right, and does the hub run? roost hub status   tells there'),
  'hub-untrusted': 'ask for a new invitation or link where the hub runs, and compare the address',
  'unknown-hub': 'roost node hubs   lists those of this node',
  'unknown-node': 'roost node ls   lists the nodes',
  'ambiguous-node': 'use the whole name or id: roost node ls',
  'node-offline': 'roost node ls   tells since when, and why; the node itself may well run on',
  'stale-incarnation': 'look at it again, then repeat what is still wanted',
  'outcome-unknown': (details) =>
    `look whether it was done before you ask again${launches(details) ? '; the same --idempotency-key asks safely' : ''}`,
  unauthenticated:
    'roost login URL   logs in; roost hub login   prints a link for a browser where the hub runs',
  forbidden: 'an admin of the hub can give another role: roost hub user',
  'out-of-scope': 'an admin of the hub can widen the scope: roost hub user',
  'origin-refused': 'open the address that the hub prints: roost hub status',
  'rate-limited': 'wait a minute, then try again',
  'invite-invalid': 'an admin of the hub makes a new one: roost hub invite',
  'already-enrolled':
    'at the hub: roost node ls   shows it, roost node rm NODE   removes it; its sessions go on',
  'unknown-user': 'roost hub user ls   lists them',
  'last-admin': 'make another admin first: roost hub user add NAME --role admin',
  'unknown-token': 'roost hub token ls   lists yours',
  'branch-exists': (details) => {
    const other = text(details, 'conflicting');
    if (other !== undefined) return `branch ${other} stands in its way; choose another name`;
    const holder = text(details, 'heldBy');
    if (holder !== undefined) return `it is checked out in ${holder}; choose another name`;
    return 'roost worktree add BRANCH --adopt   checks it out; or choose another name';
  },
};

/** Of a worktree that could not be made whole. */
const UNDONE =
  'git failed, or a hook of the repository; only the branch is left: roost worktree add BRANCH --adopt   tries again';

/** A workspace of something that is there no more. */
function stale(details: FailureDetails, what: string): string {
  return `${what}; roost workspace rm ${text(details, 'workspaceId') ?? 'ID'}   forgets it, and deletes nothing`;
}

/** Why a worktree is protected. */
const PROTECTED: Readonly<Record<string, string>> = {
  'main-worktree': 'it is the main checkout of its repository',
  'bare-repository': 'it is the repository itself',
  'holds-more': 'the repository or your home directory is in it',
  'contains-worktree': 'another worktree is inside; remove that first',
  'not-listed': 'git knows no worktree there; roost worktree ls   lists them',
  'directory-gone': 'its directory is gone; git worktree list   tells more',
  replaced: 'what stands there is not the worktree that git knows',
  'inside-git': 'git keeps its own things there; choose another place with --path DIR',
  'inside-worktree':
    'it would be inside another worktree, which does not ignore it; choose another place with --path DIR',
};

/** What an agent waits for before it takes a prompt. */
const WAITS_FOR: Readonly<Record<string, string>> = {
  starting: 'it still starts; try again in a moment',
  unknown: 'its screen shows no composer',
  approval: 'it waits for a permission',
  question: 'it has asked something',
  trust: 'it asks whether to trust the folder',
  login: 'nobody is logged in',
  'api-key': 'it asks for an API key, or about one',
  onboarding: 'it shows its first-run questions',
  update: 'it offers an update',
  hooks: 'it wants its hooks to be reviewed',
};

function notReady(details: FailureDetails): string {
  const reason = text(details, 'reason') ?? 'unknown';
  return `${WAITS_FOR[reason] ?? `it is blocked: ${reason}`}; roost attach NAME   shows it`;
}

function whatWouldBeLost(details: FailureDetails): string {
  const operation = text(details, 'operation');
  if (operation !== undefined) return `a ${operation} is under way in it; end it first`;
  if (text(details, 'submodules') !== undefined) return 'it has submodules; git removes it only by hand';
  const names = details.names;
  const named = Array.isArray(names) ? `, such as ${names.join(', ')}` : '';
  if (text(details, 'repositories') !== undefined) return `a repository lies in it${named}`;
  if (text(details, 'mounts') !== undefined)
    return `another file system is mounted in it${named}; unmount it first`;
  if (text(details, 'unreadable') !== undefined) return `it has a directory that cannot be read${named}`;
  const ignored = text(details, 'ignored');
  if (ignored !== undefined) return `${ignored} ignored${named}; --discard-ignored   removes them with it`;
  const changed = text(details, 'changed') ?? 'unknown';
  return `${changed} changed, ${text(details, 'untracked') ?? 'unknown'} untracked${named}; commit them first`;
}

/** Details that name what was refused, the most telling first. */
const SUBJECTS = [
  'selector',
  'name',
  'command',
  'provider',
  'profileId',
  'idempotencyKey',
  'directory',
  'branch',
  'path',
  'root',
  'workspaceId',
  'leaseId',
  'operation',
];

/** The lines for standard error. */
export function describeFailure(error: unknown): string[] {
  const failure = failureOf(error);
  if (failure === undefined) {
    const message = error instanceof Error ? error.message : String(error);
    return [`roost: internal-error: ${printable(message)}`, '  try: roost doctor'];
  }
  const first = `roost: ${failure.code}: ${printable(failure.message)}`;
  const details = failure.details ?? {};
  // Of a session or record, its workspace is a part of the address.
  const isInside = details.sessionId !== undefined || details.recordId !== undefined;
  const keys = isInside ? SUBJECTS.filter((key) => key !== 'workspaceId') : SUBJECTS;
  const subject = keys.map((key) => text(details, key)).find((value) => value !== undefined);
  const second = [subject, hintFor(failure)].filter((part) => part !== undefined).join(': ');
  return second === '' ? [first] : [first, `  ${printable(second)}`];
}

function hintFor(failure: Failure): string | undefined {
  const hint = HINTS[failure.code];
  return typeof hint === 'function' ? hint(failure.details ?? {}) : hint;
}

/** The shape decides, not the class: commands that load no client must not load one to fail. */
function failureOf(error: unknown): Failure | undefined {
  if (!(error instanceof Error) || error.name !== 'FailureError' || !('failure' in error)) return undefined;
  return error.failure as Failure;
}

function text(details: FailureDetails, key: string): string | undefined {
  const value = details[key];
  if (Array.isArray(value)) return value.join('; ');
  return value === undefined ? undefined : String(value);
}

/** Whether what was asked for has a key under which it can be asked for again. */
function launches(details: FailureDetails): boolean {
  return ['spawn.submit', 'worktree.spawn', 'worktree.allocate'].includes(text(details, 'operation') ?? '');
}

function named(
  details: FailureDetails,
  key: string,
  sentence: (value: string) => string,
): string | undefined {
  const value = text(details, key);
  return value === undefined ? undefined : sentence(value);
}

function withPath(details: FailureDetails, sentence: string): string {
  const path = text(details, 'path');
  return path === undefined ? sentence : `${path}: ${sentence}`;
}

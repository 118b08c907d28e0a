// The database's shape, one numbered step at a time. A step that has shipped is never edited; a change is a new step.
// The environment of a session has no column.
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE node (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    node_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    clean_stop INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE workspaces (
    id TEXT PRIMARY KEY,
    root TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE records (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    provider TEXT NOT NULL,
    launch TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    record_id TEXT NOT NULL REFERENCES records (id),
    name TEXT NOT NULL,
    provider TEXT NOT NULL,
    transport TEXT NOT NULL,
    status TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    directory TEXT NOT NULL,
    command TEXT NOT NULL,
    keeper_id TEXT,
    pid INTEGER,
    process_start TEXT,
    columns INTEGER,
    rows INTEGER,
    title TEXT,
    created_at INTEGER NOT NULL,
    ended_at INTEGER,
    exit_code INTEGER,
    exit_signal TEXT,
    end_reason TEXT,
    stop_requested INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX sessions_by_name ON sessions (name);
  CREATE INDEX sessions_by_keeper ON sessions (keeper_id);
  CREATE INDEX sessions_by_workspace ON sessions (workspace_id);

  -- Removed sessions whose files or keeper may still hold something.
  CREATE TABLE removals (
    session_id TEXT PRIMARY KEY,
    keeper_id TEXT
  ) STRICT;

  CREATE TABLE events (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  `,
  // Sessions know which run of a record they are; records stand for what can be resumed. The records of before held nothing that a
  // session does not, and the events of before told of sessions in another shape.
  `
  CREATE TABLE sessions_next (
    id TEXT PRIMARY KEY,
    record_id TEXT,
    generation INTEGER NOT NULL,
    name TEXT NOT NULL,
    provider TEXT NOT NULL,
    transport TEXT NOT NULL,
    status TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    directory TEXT NOT NULL,
    command TEXT NOT NULL,
    -- Receipt of the environment profile, as JSON; never a value of the environment.
    environment_profile TEXT,
    keeper_id TEXT,
    pid INTEGER,
    process_start TEXT,
    columns INTEGER,
    rows INTEGER,
    title TEXT,
    created_at INTEGER NOT NULL,
    ended_at INTEGER,
    exit_code INTEGER,
    exit_signal TEXT,
    end_reason TEXT,
    stop_requested INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  INSERT INTO sessions_next
    SELECT id, NULL, 1, name, provider, transport, status, workspace_id, directory, command, NULL, keeper_id, pid,
      process_start, columns, rows, title, created_at, ended_at, exit_code, exit_signal, end_reason, stop_requested
    FROM sessions ORDER BY rowid;
  DROP TABLE sessions;
  ALTER TABLE sessions_next RENAME TO sessions;
  CREATE INDEX sessions_by_name ON sessions (name);
  CREATE INDEX sessions_by_keeper ON sessions (keeper_id);
  CREATE INDEX sessions_by_workspace ON sessions (workspace_id);
  CREATE INDEX sessions_by_record ON sessions (record_id);

  -- 1: its launch was given up. Whatever runs under the session's id is ended before the rest is cleaned up.
  ALTER TABLE removals ADD COLUMN discard INTEGER NOT NULL DEFAULT 0;

  DROP TABLE records;
  CREATE TABLE records (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    provider TEXT NOT NULL,
    transport TEXT NOT NULL,
    state TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    workspace_root TEXT NOT NULL,
    directory TEXT NOT NULL,
    -- Arguments for the provider, as JSON: a resume gives them again.
    arguments TEXT NOT NULL,
    generation INTEGER NOT NULL,
    provider_session_key TEXT,
    provider_session_id TEXT,
    transcript_path TEXT,
    active_session_id TEXT,
    environment_profile TEXT,
    bundle TEXT,
    context TEXT,
    task_revision INTEGER NOT NULL DEFAULT 0,
    task_id TEXT,
    task_changed_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    last_error TEXT
  ) STRICT;
  CREATE INDEX records_by_name ON records (name);
  CREATE UNIQUE INDEX records_by_provider_session ON records (provider_session_key, provider_session_id)
    WHERE provider_session_id IS NOT NULL;

  -- One row a launch by spawn spec: exactly once for its key.
  CREATE TABLE spawn_ledger (
    key TEXT PRIMARY KEY,
    -- Name of the client that asked: its launches count together.
    owner TEXT NOT NULL,
    -- SHA-256 of the canonical spec.
    digest TEXT NOT NULL,
    session_id TEXT,
    receipt TEXT,
    failure TEXT,
    accepted_at INTEGER NOT NULL,
    settled_at INTEGER
  ) STRICT;
  CREATE INDEX spawn_ledger_by_owner ON spawn_ledger (owner, accepted_at);
  CREATE INDEX spawn_ledger_by_session ON spawn_ledger (session_id);

  -- Which start of the node wrote which events: the events from first_sequence on, up to the next row's.
  CREATE TABLE incarnations (
    incarnation TEXT PRIMARY KEY,
    first_sequence INTEGER NOT NULL
  ) STRICT;
  DELETE FROM events;
  `,
  // What is begun with a worktree is written down before git runs, and taken away by what tells how it ended.
  `
  CREATE TABLE worktree_intents (
    id TEXT PRIMARY KEY,
    -- create | remove
    act TEXT NOT NULL,
    source_workspace_id TEXT NOT NULL,
    -- Where git is asked: the root of the source workspace.
    source_root TEXT NOT NULL,
    -- What all worktrees of the repository share, canonical.
    common_directory TEXT NOT NULL,
    target_root TEXT NOT NULL UNIQUE,
    -- create: the id asked for. remove: the workspace that goes with it.
    workspace_id TEXT,
    branch TEXT,
    head TEXT,
    -- Git's process, once it has been started.
    pid INTEGER,
    process_start TEXT,
    -- Why it could not be put right by evidence; null as long as it was not looked at.
    problem TEXT,
    created_at INTEGER NOT NULL
  ) STRICT;
  `,
  // What a session changed is told from where HEAD was when it was started.
  `
  ALTER TABLE sessions ADD COLUMN base_commit TEXT;
  `,
  // Managed worktrees, one row each; the row of a removed one stays for a while. A row is there before anything of its worktree is.
  `
  CREATE TABLE worktree_leases (
    -- Also the id of its workspace.
    id TEXT PRIMARY KEY,
    source_workspace_id TEXT NOT NULL,
    repository_root TEXT NOT NULL,
    allocation_root TEXT NOT NULL,
    target TEXT NOT NULL,
    profile_id TEXT NOT NULL,
    profile_revision TEXT NOT NULL,
    -- The profile as it was when the worktree was made, as JSON: what it says about the end still counts then.
    profile TEXT NOT NULL,
    branch TEXT NOT NULL,
    base_commit TEXT NOT NULL,
    head TEXT,
    state TEXT NOT NULL,
    failure TEXT,
    -- Which request it was made for: a launch, or an allocation for later launches.
    origin TEXT NOT NULL,
    -- 1: made for later launches; it stays until one was in it.
    reserved INTEGER NOT NULL,
    -- Ignored files and directories that were there after the set-up, as JSON: what Roost put there.
    made TEXT NOT NULL DEFAULT '[]',
    -- The request that it was made for, until what became of that is stored elsewhere.
    idempotency_key TEXT,
    digest TEXT,
    port_base INTEGER,
    port_count INTEGER,
    -- How set-up and tear-down went, as JSON.
    setup TEXT,
    teardown TEXT,
    -- 1: its removal has begun.
    cleaning INTEGER NOT NULL DEFAULT 0,
    -- As the last event told them.
    sessions INTEGER NOT NULL DEFAULT 0,
    records INTEGER NOT NULL DEFAULT 0,
    recovery_refs TEXT NOT NULL DEFAULT '[]',
    outcome TEXT,
    branch_kept INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX worktree_leases_by_key ON worktree_leases (idempotency_key) WHERE idempotency_key IS NOT NULL;
  -- Where the removed session was: a worktree waits for what is left of it.
  ALTER TABLE removals ADD COLUMN workspace_id TEXT;
  `,
  // What git said of a workspace last, as JSON: events tell it, so rows must.
  `
  ALTER TABLE workspaces ADD COLUMN git TEXT;
  `,
  // What a set-up left is remembered with digests: what was remembered without one is nobody's.
  `
  UPDATE worktree_leases SET made = '[]';
  `,
  // What its agent is doing, as JSON.
  `
  ALTER TABLE sessions ADD COLUMN activity TEXT;
  `,
  // Sessions that are spoken with.
  `
  ALTER TABLE sessions ADD COLUMN protocol TEXT;
  -- How what its runs ask is answered without a person, as JSON.
  ALTER TABLE records ADD COLUMN interactions TEXT;
  CREATE TABLE conversations (
    session_id TEXT PRIMARY KEY,
    protocol TEXT NOT NULL,
    resume TEXT,
    policy TEXT,
    -- What its driver knows, as JSON, and up to which byte of the output.
    state TEXT,
    output_end INTEGER NOT NULL DEFAULT 0,
    timeline_end INTEGER NOT NULL DEFAULT 0,
    -- Bytes of input in front of the lines that the program may not have got.
    input_end INTEGER NOT NULL DEFAULT 0,
    outbox TEXT NOT NULL DEFAULT '[]'
  ) STRICT;
  CREATE TABLE conversation_prompts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL,
    text TEXT NOT NULL
  ) STRICT;
  CREATE INDEX conversation_prompts_of_session ON conversation_prompts (session_id);
  CREATE TABLE interactions (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    request_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    tool TEXT,
    title TEXT NOT NULL,
    detail TEXT NOT NULL,
    options TEXT NOT NULL,
    state TEXT NOT NULL,
    outcome TEXT,
    answered_by TEXT,
    asked_at INTEGER NOT NULL,
    expires_at INTEGER,
    settled_at INTEGER
  ) STRICT;
  CREATE INDEX interactions_of_session ON interactions (session_id, state);
  `,
  // First prompts of agents in terminals wait, too.
  `
  ALTER TABLE conversation_prompts RENAME TO waiting_prompts;
  DROP INDEX conversation_prompts_of_session;
  CREATE INDEX waiting_prompts_of_session ON waiting_prompts (session_id);
  `,
];

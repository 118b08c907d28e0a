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
];

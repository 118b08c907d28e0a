// The shape of the hub's database, one numbered step at a time. A step that has shipped is never edited; a change is a new step. No
// secret and no key of a node has a column: what proves somebody is stored as its SHA-256. Times are milliseconds since the epoch.
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE hub (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    hub_id TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE nodes (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    -- dialled | calls-home
    way TEXT NOT NULL,
    enrolled_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE node_views (
    node_id TEXT PRIMARY KEY REFERENCES nodes (id) ON DELETE CASCADE,
    incarnation TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    version TEXT,
    -- What the fleet holds of the node, as JSON.
    state TEXT NOT NULL
  ) STRICT;

  CREATE TABLE users (
    name TEXT PRIMARY KEY,
    role TEXT NOT NULL,
    -- JSON; null: every node.
    scope TEXT,
    disabled INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL
  ) STRICT;

  -- Role and scope of a credential are its own bounds: it does what its user may do as well.
  CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    user TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE,
    label TEXT NOT NULL,
    role TEXT NOT NULL,
    scope TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    last_used_at INTEGER
  ) STRICT;
  CREATE INDEX tokens_of_user ON tokens (user);

  -- A login that was made with a token ends with it.
  CREATE TABLE login_links (
    hash TEXT PRIMARY KEY,
    user TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE,
    role TEXT NOT NULL,
    scope TEXT,
    made_with TEXT REFERENCES tokens (id) ON DELETE CASCADE,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX login_links_of_user ON login_links (user);
  CREATE INDEX login_links_of_token ON login_links (made_with);

  CREATE TABLE browser_sessions (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    user TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE,
    role TEXT NOT NULL,
    scope TEXT,
    made_with TEXT REFERENCES tokens (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX browser_sessions_of_user ON browser_sessions (user);
  CREATE INDEX browser_sessions_of_token ON browser_sessions (made_with);

  CREATE TABLE invites (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    node_name TEXT,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    -- The node that took it, when, and a SHA-256 over what it showed: who asks again with the same is answered the same.
    used_by TEXT,
    used_at INTEGER,
    used_digest TEXT
  ) STRICT;

  CREATE TABLE audit (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    -- asked | answered
    phase TEXT NOT NULL,
    actor TEXT NOT NULL,
    credential TEXT,
    peer TEXT NOT NULL,
    operation TEXT NOT NULL,
    node_id TEXT,
    target TEXT NOT NULL,
    outcome TEXT
  ) STRICT;
  CREATE INDEX audit_by_actor ON audit (actor, sequence);
  CREATE INDEX audit_by_node ON audit (node_id, sequence);
  CREATE INDEX audit_by_operation ON audit (operation, sequence);
  CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
  CREATE TRIGGER audit_is_not_removed BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
  `,
];

/**
 * Names for what a peer may know. The connection uses the intersection of both offers; operations, fields, events and lanes
 * that carry a capability are there only for a peer that has it. The order is that of the node's offer; a released name
 * never changes its meaning.
 */
interface CapabilityFacts {
  readonly summary: string;
  /** Whether this node offers it. What is not built yet is named, and not offered. */
  readonly offered: boolean;
}

const TABLE = {
  'compatibility.metadata': {
    summary: 'Hello, challenge and ready carry an offer and a selection.',
    offered: true,
  },
  'host-directory-browse-v1': { summary: 'Directories of the machine can be listed.', offered: true },
  'repository-path-v1': {
    summary: 'Paths in a workspace are relative, UTF-8, slash-separated.',
    offered: true,
  },
  'workspace-file-read-v1': { summary: 'Files of a workspace can be read.', offered: true },
  'workspace-file-write-v1': { summary: 'Files of a workspace can be replaced.', offered: true },
  'workspace-entry-create-v1': {
    summary: 'Files and directories can be made in a workspace.',
    offered: true,
  },
  'git-read-v1': {
    summary: 'Status, history and differences of a repository can be read.',
    offered: true,
  },
  'provider-contract-manifest-v1': {
    summary: 'Provider contracts are listed with their revisions.',
    offered: false,
  },
  'provider-id.open-v1': { summary: 'Providers beyond claude, codex and kimi are shown.', offered: true },
  'provider-session-reference-index-v1': {
    summary: 'A session known to a provider can be made a record.',
    offered: true,
  },
  'provider-runtime-status-v1': { summary: 'Snapshots tell which providers can run.', offered: true },
  'terminal-frame-events-v1': { summary: 'Screens of terminal sessions can be watched.', offered: true },
  'agent-stream-events-v1': { summary: 'Output of pipe sessions can be followed.', offered: true },
  'acp-control-v1': { summary: 'Agents that are spoken with can be given choices.', offered: true },
  'spawn-spec.defaults-overrides-v1': { summary: 'Spawn specs with profiles and overrides.', offered: true },
  'spawn-spec.profile-revision-v1': { summary: 'A spawn spec names the revision it expects.', offered: true },
  'worktree-selection-v1': { summary: 'A spawn spec can select a worktree.', offered: true },
  'managed-worktree-lifecycle-v1': { summary: 'Managed worktrees are shown and cleaned up.', offered: true },
  'managed-worktree-spawn-v2': { summary: 'A spawn can allocate a managed worktree.', offered: true },
  'child-environment-profile-v1': { summary: 'Sessions can run with an environment profile.', offered: true },
  'session-bundle-materialization-v1': { summary: 'Sessions can run with a bundle.', offered: true },
  'history-context-pack-v1': { summary: 'Sessions can start from a context pack.', offered: true },
  'session-record-context-export-v1': { summary: 'A record can export a context pack.', offered: false },
  'native-session-catalog-v2': { summary: "A provider's own sessions can be listed.", offered: true },
  'native-session-catalog-paging-v2': { summary: 'That list comes in pages.', offered: true },
  'native-session-index-v2': { summary: 'An entry of that list can be made a record.', offered: true },
  'native-session-preview-v2': { summary: 'An entry of that list can be previewed.', offered: true },
  'agent-progress-snapshot-v1': { summary: 'Snapshots tell what agents are doing.', offered: true },
  'session-task-correlation-v1': { summary: 'Records can be bound to a task.', offered: true },
  'standalone-workspace-lifecycle-v1': { summary: 'Workspaces can be made from nothing.', offered: true },
  'delivery-bundle-v2-stage-commit': { summary: 'Bundles can be delivered in stages.', offered: false },
  'harness-mcp-read-proxy-v1': {
    summary: 'Reads of an MCP server are proxied to the controller.',
    offered: false,
  },
  'terminal-attach-v1': { summary: 'A terminal session can be attached on this machine.', offered: true },
  'event-journal-v1': { summary: 'The durable event journal can be read and followed.', offered: true },
  'pipe-output-v1': { summary: 'Output of pipe sessions can be read by offset.', offered: true },
  'snapshot-delta-v1': { summary: 'A snapshot can tell only what changed after a sequence.', offered: true },
  'worktree-lifecycle-v1': {
    summary: 'Worktrees can be listed, and made and removed by hand.',
    offered: true,
  },
  'session-activity-v1': { summary: 'Sessions tell what their agents are doing.', offered: true },
  'prompt-delivery-v1': { summary: 'Prompts tell how far they were delivered.', offered: true },
  'provider-discovery-v1': {
    summary: 'Providers tell where they were found, in which version, and what that is good for.',
    offered: true,
  },
  'agent-conversation-v1': {
    summary: 'Sessions that are spoken with have a timeline, and what they ask can be answered.',
    offered: true,
  },
  'session-options-v1': { summary: 'A launch can choose model, permissions and the like.', offered: true },
  'native-session-read-v1': {
    summary: 'The messages of such a session can be read in pages.',
    offered: true,
  },
  'terminal-relay-v1': {
    summary: 'A terminal session can be attached over the connection to the node.',
    offered: true,
  },
  'hub-membership-v1': { summary: 'The node can belong to hubs, and calls them.', offered: true },
} as const satisfies Record<string, CapabilityFacts>;

export type Capability = keyof typeof TABLE;
export const CAPABILITIES: Readonly<Record<Capability, CapabilityFacts>> = TABLE;

/** What this build offers, in the order of the table. */
export const OFFERED_CAPABILITIES: readonly Capability[] = (Object.keys(TABLE) as Capability[]).filter(
  (name) => TABLE[name].offered,
);

/** Providers that every peer knows; others show only to peers with `provider-id.open-v1`. */
export const LEGACY_PROVIDERS: readonly string[] = ['claude', 'codex', 'kimi'];

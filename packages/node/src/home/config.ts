// The configuration of a node: `config.json` in its state directory, written by people. Everything may be left out; what is not
// understood is refused at the start, by the name of its place.
import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import * as z from 'zod';
import {
  CONNECTIONS_DEFAULT,
  CONNECTIONS_MAX,
  FailureError,
  WorkspaceId,
  WorktreeServiceMode,
  INSPECTION_MS_DEFAULT,
  INSPECTION_MS_MAX,
  INSPECTION_VISITS_DEFAULT,
  INSPECTION_VISITS_MAX,
} from '@roost/protocol';
import { systemErrorCode } from '@roost/storage';

const CONFIG_BYTES_MAX = 64 * 1024;

/** A loopback address and a port: `127.0.0.1:7433`, `[::1]:7433`; port 0 takes any free one. */
const LoopbackAddress = z.string().transform((text, context) => {
  const match = /^(?:\[([0-9a-f:]+)\]|([0-9.]+)):(\d{1,5})$/i.exec(text);
  const host = match?.[1] ?? match?.[2] ?? '';
  const port = Number(match?.[3]);
  const isLoopback = host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
  if (!isLoopback || !(port <= 65_535)) {
    context.addIssue('not a loopback address with a port, such as 127.0.0.1:7433');
    return z.NEVER;
  }
  return { host, port };
});

export const Config = z.strictObject({
  attention: z
    .strictObject({
      /** Program and arguments that are run when a session comes to need somebody; see `AttentionCommand`. null: none. */
      command: z.array(z.string().max(4_096)).min(1).max(64).nullable().default(null),
    })
    .prefault({}),
  connections: z
    .strictObject({ max: z.int().min(1).max(CONNECTIONS_MAX).default(CONNECTIONS_DEFAULT) })
    .default({ max: CONNECTIONS_DEFAULT }),
  /** Where to listen beside the socket. */
  listen: LoopbackAddress.nullable().default(null),
  /** When unavailable records are forgotten by themselves; 0 turns a rule off, two rules must both hold. */
  records: z
    .strictObject({
      /** Milliseconds since the last change. */
      retainMs: z.int().nonnegative().default(0),
      /** Newest ones kept in each workspace. */
      keepPerWorkspace: z.int().nonnegative().default(0),
    })
    .default({ retainMs: 0, keepPerWorkspace: 0 }),
  /** Ports of which managed worktrees get some in a row; by default below those that systems give away by themselves. */
  worktreePorts: z
    .strictObject({ first: z.int().min(1024).max(65_535), last: z.int().min(1024).max(65_535) })
    .refine(({ first, last }) => first <= last, 'the first port is after the last')
    .default({ first: 20_000, last: 29_999 }),
  /** How the worktrees of a workspace are made and removed, by its id; see `WorktreeServiceMode`. */
  worktrees: z.record(WorkspaceId, WorktreeServiceMode).default({}),
  workspaces: z
    .strictObject({
      /** What one inspection may cost. */
      inspection: z
        .strictObject({
          /** Milliseconds, of walking the tree and of asking git, which go on at the same time. */
          budgetMs: z.int().min(1).max(INSPECTION_MS_MAX).default(INSPECTION_MS_DEFAULT),
          /** Entries looked at, of which far fewer are shown. */
          entriesMax: z.int().min(1).max(INSPECTION_VISITS_MAX).default(INSPECTION_VISITS_DEFAULT),
        })
        .prefault({}),
    })
    .prefault({}),
});
export type Config = z.infer<typeof Config>;

/** @throws FailureError: home-unusable. */
export function readConfig(path: string): Config {
  let text: string;
  try {
    if (statSync(path).size > CONFIG_BYTES_MAX) throw unusable(path, 'it is too long');
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    if (cause instanceof FailureError) throw cause;
    if (systemErrorCode(cause) === 'ENOENT') return Config.parse({});
    throw unusable(path, 'it cannot be read', cause);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw unusable(path, 'it is not JSON', cause);
  }
  const parsed = Config.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw unusable(path, `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not understood'}`, parsed.error);
}

function unusable(path: string, reason: string, cause?: unknown): FailureError {
  return new FailureError('home-unusable', { path, reason }, { cause });
}

import * as z from 'zod';
import { WorkspaceId } from './ids.ts';

export const Workspace = z.object({
  id: WorkspaceId,
  /** Canonical path: links resolved when it was registered. */
  root: z.string(),
  kind: z.enum(['git', 'plain']),
  createdAt: z.iso.datetime(),
  liveSessions: z.int().nonnegative(),
});
export type Workspace = z.infer<typeof Workspace>;

import * as z from 'zod';
import { ConnectionId } from './ids.ts';

/** Who holds the controller lease, and for how long still (measured by the node, at the time of sending). */
export const ControllerState = z.object({
  connectionId: ConnectionId,
  clientName: z.string(),
  remainingMs: z.int().nonnegative(),
});
export type ControllerState = z.infer<typeof ControllerState>;

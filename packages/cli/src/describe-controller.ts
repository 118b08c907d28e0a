import type { ControllerState } from '@roost/protocol';

/** Who holds the controller lease: `roost-cli (connection 7, 12s left)`. */
export function describeController({ clientName, connectionId, remainingMs }: ControllerState): string {
  return `${clientName} (connection ${connectionId}, ${Math.ceil(remainingMs / 1000)}s left)`;
}

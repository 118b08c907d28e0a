/**
 * The controller lease, held and renewed until the signal. Losing it is a failure and never papered over by taking it
 * again: whoever holds it counts on nobody having come between.
 */
import type { NodeConnection } from '@roost/client';
import { FailureError, LEASE_MS_DEFAULT, type ControllerState, type EventBody } from '@roost/protocol';

/** Milliseconds between renewals: two may be late before the lease is over. */
const RENEW_EVERY_MS = LEASE_MS_DEFAULT / 3;

export interface HoldOptions {
  readonly takeOver: boolean;
  readonly signal: AbortSignal;
  readonly onHeld: (controller: ControllerState) => void;
}

type Change = Extract<EventBody, { kind: 'controller-changed' }>;

export async function holdController(connection: NodeConnection, options: HoldOptions): Promise<void> {
  const { takeOver, signal, onHeld } = options;
  const { controller } = await connection.request('controller.acquire', {
    takeOver,
    leaseMs: LEASE_MS_DEFAULT,
  });
  if (controller === null) throw new FailureError('internal-error', { operation: 'controller.acquire' });
  onHeld(controller);
  const loss = watchLoss(connection);
  const renewal = setInterval(() => {
    connection
      .request('controller.acquire', { leaseMs: LEASE_MS_DEFAULT })
      // A lease that is taken meanwhile is told by its event, a lost connection by its end.
      .catch(() => undefined);
  }, RENEW_EVERY_MS);
  const stopped = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  try {
    await Promise.race([stopped, loss]);
    await connection.request('controller.release', {});
  } finally {
    clearInterval(renewal);
  }
}

/** Rejects when this connection no longer holds the lease. */
function watchLoss(connection: NodeConnection): Promise<never> {
  return new Promise((_, reject) => {
    let held = false;
    const onChange = ({ controller, reason }: Change): void => {
      if (controller?.connectionId === connection.connectionId) held = true;
      else if (held) reject(lossOf(controller, reason));
    };
    connection.onClose(() => reject(new FailureError('connection-lost')));
    // From before we took it: our own event is the first that counts.
    connection
      .subscribeEvents({ sequence: connection.sequence }, ({ body }) => {
        if (body?.kind === 'controller-changed') onChange(body);
      })
      .catch(reject);
  });
}

function lossOf(controller: Change['controller'], reason: Change['reason']): FailureError {
  if (controller === null) return new FailureError('controller-required', { reason });
  const { clientName, connectionId } = controller;
  return new FailureError('controller-busy', { clientName, connectionId });
}

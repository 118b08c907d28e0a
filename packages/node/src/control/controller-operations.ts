// The operations on the controller lease. They take no locks: nothing that runs holds a renewal up.
import type { ControllerLease } from './controller-lease.ts';
import type { Handlers } from './handlers.ts';

export function controllerOperations(
  lease: ControllerLease,
): Pick<Handlers, 'controller.show' | 'controller.acquire' | 'controller.release'> {
  return {
    'controller.show': () => ({ controller: lease.state }),
    'controller.acquire': ({ leaseMs, takeOver }, caller) => ({
      controller: lease.acquire(caller, leaseMs, takeOver),
    }),
    'controller.release': (_, caller) => {
      lease.release(caller.connectionId, 'released');
      return { controller: lease.state };
    },
  };
}

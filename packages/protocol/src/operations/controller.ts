import * as z from 'zod';
import { LEASE_MS_DEFAULT } from '../bounds.ts';
import { ControllerState } from '../controller.ts';
import { operation } from '../operation.ts';

const Controller = () => z.object({ controller: ControllerState.nullable() });

export const controllerShow = operation({
  name: 'controller.show',
  summary: 'Tells who holds the controller lease.',
  access: 'observer',
  capability: null,
  params: () => z.strictObject({}),
  result: Controller,
  failures: [],
});

export const controllerAcquire = operation({
  name: 'controller.acquire',
  summary:
    'Takes or renews the controller lease: until it expires, is released or taken over, or this connection ends.',
  access: 'operator',
  capability: null,
  params: () =>
    z.strictObject({
      /** Moved to the nearest bound when it lies outside them. */
      leaseMs: z.int().nonnegative().default(LEASE_MS_DEFAULT),
      /** Take it from whoever holds it; everybody sees the change. */
      takeOver: z.boolean().default(false),
    }),
  result: Controller,
  failures: ['controller-busy'],
});

export const controllerRelease = operation({
  name: 'controller.release',
  summary: 'Gives the controller lease back when this connection holds it; tells who holds it then.',
  access: 'observer',
  capability: null,
  params: () => z.strictObject({}),
  result: Controller,
  failures: [],
});

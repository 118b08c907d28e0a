// What the HTTP side of a hub works with.
import type { HubId } from '@roost/protocol';
import type { Access } from '../access/access.ts';
import type { Audit } from '../audit/audit.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Log } from '@roost/storage';
import type { Store } from '../store/store.ts';
import type { FleetIndex } from './fleet-index.ts';
import type { HubMetrics } from './metrics.ts';
import type { OpenLines } from './open-lines.ts';
import type { OwnPlaces } from './request-guard.ts';
import type { WebFiles } from './web-files.ts';

export interface HubContext {
  readonly hubId: HubId;
  readonly version: string;
  readonly startedAt: Date;
  readonly store: Store;
  readonly access: Access;
  readonly audit: Audit;
  readonly fleet: Fleet;
  readonly index: FleetIndex;
  readonly lines: OpenLines;
  readonly metrics: HubMetrics;
  /** The description of the API, JSON text; asked once. */
  readonly apiDocument: () => Promise<string>;
  readonly web: WebFiles;
  readonly log: Log;
  readonly monotonicNow: () => number;
  /** By which nodes know its certificate; null: there is none, or others vouch for it. */
  readonly pin: string | null;
  /** Known once it listens. */
  readonly place: () => OwnPlaces & {
    /** Where nodes and browsers find it. */
    readonly url: string;
  };
  /** Stops the hub once what is answered now is on its way. */
  readonly requestStop: () => void;
  readonly isStopping: () => boolean;
  /** Holds every answer against its schema: for tests. */
  readonly checkResults: boolean;
}

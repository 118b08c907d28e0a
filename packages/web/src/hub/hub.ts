/** The one hub of this page: its API, its mirror, and lines to its nodes. */
import { hubApi, HubMirror, type HubApi } from '@roost/client/browser';
import type { AheadRequest } from '../ahead/first-requests.ts';
import { takingAhead } from '../ahead/take-ahead.ts';
import { Mirroring } from './mirroring.ts';
import { NodeLines } from './node-lines.ts';

export interface Hub {
  readonly api: HubApi;
  readonly mirror: HubMirror;
  readonly mirroring: Mirroring;
  readonly lines: NodeLines;
}

/** Milliseconds for which events are gathered before they are shown: less than what an eye tells apart. */
const GATHER_MS = 40;

export function openHub(page: Window): Hub {
  const { origin } = page.location;
  const fetch = takingAhead(globalThis.roostAhead ?? new Map<string, AheadRequest>(), (...request) =>
    page.fetch(...request),
  );
  const api = hubApi({ fetch, baseUrl: '' });
  const mirror = new HubMirror({
    api,
    now: () => Date.now(),
    schedule: (call) => void page.setTimeout(call, GATHER_MS),
  });
  return {
    api,
    mirror,
    mirroring: new Mirroring(mirror),
    lines: new NodeLines({
      openWebSocket: (url) => new WebSocket(url),
      baseUrl: origin.replace(/^http/, 'ws'),
    }),
  };
}

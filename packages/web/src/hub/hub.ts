/** The one hub of this page: its API, its mirror, and lines to its nodes. */
import { hubApi, HubMirror, type HubApi } from '@roost/client/browser';
import { NodeLines } from './node-lines.ts';

export interface Hub {
  readonly api: HubApi;
  readonly mirror: HubMirror;
  readonly lines: NodeLines;
}

/** Milliseconds for which events are gathered before they are shown: less than what an eye tells apart. */
const GATHER_MS = 40;

export function openHub(page: Window): Hub {
  const { origin } = page.location;
  const api = hubApi({ fetch: (...request) => page.fetch(...request), baseUrl: '' });
  return {
    api,
    mirror: new HubMirror({
      api,
      now: () => Date.now(),
      schedule: (call) => void page.setTimeout(call, GATHER_MS),
    }),
    lines: new NodeLines({
      openWebSocket: (url) => new WebSocket(url),
      baseUrl: origin.replace(/^http/, 'ws'),
    }),
  };
}

// A hub whose answers are in the hands of a test, as the page sees it.
import { HubMirror, hubApi } from '@roost/client/browser';
import type { Hub } from '../hub/hub.ts';
import { Mirroring } from '../hub/mirroring.ts';

export function stubHub(answer: (path: string, init?: RequestInit) => Response): Omit<Hub, 'lines'> {
  const fetch: typeof globalThis.fetch = (input, init) => {
    if (typeof input !== 'string') throw new Error('a page asks by paths');
    return Promise.resolve(answer(input, init));
  };
  const api = hubApi({ fetch, baseUrl: '' });
  const mirror = new HubMirror({ api, now: () => 0, schedule: (call) => call() });
  return { api, mirror, mirroring: new Mirroring(mirror) };
}

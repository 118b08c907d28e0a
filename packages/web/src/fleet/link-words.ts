// Why a node is not online, in words.
import type { HubNode, LinkReason } from '@roost/protocol';

const REASONS: Readonly<Record<LinkReason, string>> = {
  'never-connected': 'it has not connected yet',
  unreachable: 'it cannot be reached',
  'connection-lost': 'the connection was lost',
  unresponsive: 'it does not answer',
  unauthorized: 'the proof of the key is wrong: invite it again',
  'unsupported-protocol': 'its version shares no protocol with this hub: upgrade the older one',
  'identity-changed': 'another node answers in its place',
  'shutting-down': 'it was shut down',
  'connections-exhausted': 'it holds as many connections as it may',
};

/** null: it is online. */
export function linkReasonText({ link }: Pick<HubNode, 'link'>): string | null {
  if (link.state === 'online') return null;
  const reason = link.reason === null ? 'no reason is known' : REASONS[link.reason];
  const attempts =
    link.attempts === 0 ? '' : `, tried ${link.attempts === 1 ? 'once' : `${link.attempts} times`} since`;
  return reason + attempts;
}

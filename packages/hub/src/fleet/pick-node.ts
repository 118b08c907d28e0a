// Which of some nodes is meant: by name or id, or by the start of an id.
import { FailureError, type HubNode } from '@roost/protocol';

/** Digits of an id that are enough to name a node, when they are unique. */
const PREFIX_LENGTH_MIN = 4;

/** null: none of them. @throws FailureError: ambiguous-node. */
export function pickNode<Node extends Pick<HubNode, 'id' | 'name'>>(
  nodes: readonly Node[],
  selector: string,
): Node | null {
  const exact = nodes.find(({ id, name }) => id === selector || name === selector);
  if (exact !== undefined) return exact;
  const starting =
    selector.length < PREFIX_LENGTH_MIN ? [] : nodes.filter(({ id }) => id.startsWith(selector));
  const [only, ...others] = starting;
  if (others.length > 0) throw new FailureError('ambiguous-node', { node: selector });
  return only ?? null;
}

import { expect, test } from 'vitest';
import { AGENT_PROTOCOLS, findAgentProtocol, PROVIDERS } from './index.ts';

test('each protocol is found by its id, and refuses the states of the others', () => {
  const port = { emit: () => undefined, write: () => undefined, now: () => 0 };
  for (const protocol of AGENT_PROTOCOLS) {
    expect(findAgentProtocol(protocol.id)).toBe(protocol);
    const state: unknown = JSON.parse(JSON.stringify(protocol.create(port).state()));
    for (const other of AGENT_PROTOCOLS) {
      if (other === protocol) expect(other.restore(port, state)?.state()).toEqual(state);
      else expect(other.restore(port, state)).toBeNull();
    }
  }
  expect(findAgentProtocol('telepathy')).toBeNull();
});

test('what a provider says that it speaks is there', () => {
  const spoken = PROVIDERS.flatMap(({ structured }) =>
    structured === undefined ? [] : [structured.protocol],
  );
  expect(spoken).toEqual(['claude-stream-json', 'codex-app-server', 'acp', 'acp', 'acp']);
  for (const id of spoken) expect(findAgentProtocol(id)).not.toBeNull();
});

// The Agent Client Protocol, spoken with whoever speaks it: the same five conversations with each.
import type { StreamPlace, StreamScript } from './stream-scripts.ts';
import type { Conversation, Message } from './conversation.ts';

/** Permission is chosen by kind: the order and the ids of the options differ. */
const choose =
  (kind: 'allow_once' | 'reject_once') =>
  ({ id, method, params }: Message): Message | undefined => {
    if (method !== 'session/request_permission') return undefined;
    const options = (params as { options: { optionId: string; kind: string }[] }).options;
    const chosen = options.find((option) => option.kind === kind);
    const outcome =
      chosen === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: chosen.optionId };
    return { jsonrpc: '2.0', id, result: { outcome } };
  };

let lastId = 0;
async function call(conversation: Conversation, method: string, params: Message): Promise<Message> {
  const id = ++lastId;
  conversation.send({ jsonrpc: '2.0', id, method, params });
  return conversation.next(
    `answer to ${method}`,
    (message) => message.id === id && message.method === undefined,
  );
}

async function begin(conversation: Conversation): Promise<void> {
  lastId = 0;
  await call(conversation, 'initialize', {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    clientInfo: { name: 'roost-lab', version: '0.1.0' },
  });
}

async function newSession(conversation: Conversation, { project }: StreamPlace): Promise<unknown> {
  await begin(conversation);
  const made = await call(conversation, 'session/new', { cwd: project, mcpServers: [] });
  return (made.result as Message | undefined)?.sessionId;
}

const promptOf = (sessionId: unknown, text: string): Message => ({
  sessionId,
  prompt: [{ type: 'text', text }],
});

const turn =
  (text: string) =>
  async (conversation: Conversation, place: StreamPlace): Promise<void> => {
    const sessionId = await newSession(conversation, place);
    await call(conversation, 'session/prompt', promptOf(sessionId, text));
  };

const sessionIdOf = ({ result }: Message): unknown => (result as Message | undefined)?.sessionId;

export const acpScripts = (args: readonly string[]): readonly StreamScript[] => [
  { name: 'acp-turn', args, play: turn('Say hello, turn-hello'), sessionId: sessionIdOf },
  { name: 'acp-tool-allowed', args, answer: choose('allow_once'), play: turn('Run it, turn-tool') },
  { name: 'acp-tool-denied', args, answer: choose('reject_once'), play: turn('Run it, turn-denied') },
  {
    name: 'acp-cancel',
    args,
    play: async (conversation, place) => {
      const sessionId = await newSession(conversation, place);
      const answered = call(conversation, 'session/prompt', promptOf(sessionId, 'Talk on, turn-slow'));
      await place.untilTalking();
      conversation.send({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId } });
      await answered;
    },
  },
  { name: 'acp-quota', args, play: turn('Spend it all, turn-quota') },
  {
    name: 'acp-load',
    args,
    play: async (conversation, place) => {
      await begin(conversation);
      await call(conversation, 'session/load', {
        sessionId: place.sessionId,
        cwd: place.project,
        mcpServers: [],
      });
      await call(conversation, 'session/prompt', promptOf(place.sessionId, 'Go on, turn-second'));
    },
  },
  {
    name: 'acp-load-unknown',
    args,
    play: async (conversation, { project }) => {
      await begin(conversation);
      const sessionId = '00000000-0000-4000-8000-0000000000ff';
      await call(conversation, 'session/load', { sessionId, cwd: project, mcpServers: [] });
    },
  },
];

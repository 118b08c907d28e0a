// The structured modes of each CLI, each as a list of small conversations.
import type { MockReply } from '../mock-server/replies.ts';
import type { TerminalCliName } from '../real-cli/versions.ts';
import type { Conversation, Message } from './conversation.ts';
import { DIALECTS } from './dialects.ts';
import type { Turns } from './scripted-model.ts';

export interface StreamPlace {
  project: string;
  /** The model is in the middle of its answer. */
  untilTalking: () => Promise<void>;
  /** Of an earlier conversation in this home. */
  sessionId: string;
}

export interface StreamScript {
  name: string;
  args: readonly string[] | ((place: StreamPlace) => readonly string[]);
  answer?: (message: Message) => Message | undefined;
  /** What is said; without it the input is closed at once. */
  play?: (conversation: Conversation, place: StreamPlace) => Promise<void>;
  /** Where the session's id stands, for the scripts after it. */
  sessionId?: (message: Message) => unknown;
}

export function streamTurns(cli: TerminalCliName): Turns {
  const { command } = DIALECTS[cli];
  const say = (text: string): MockReply => ({ kind: 'text', text });
  const run = (text: string): MockReply => ({ kind: 'tools', text: 'I run it.', calls: [command(text)] });
  return {
    'turn-hello': [say('Hello! What shall we do today?')],
    'turn-second': [say('And this is the second answer.')],
    'turn-tool': [run('touch made.txt; echo made-it'), say('The command has run.')],
    'turn-denied': [run('touch never.txt'), say('Then I leave it.')],
    'turn-slow': [
      {
        kind: 'text',
        text: 'One word after the other, for a long time. '.repeat(40),
        pieceLength: 6,
        delayMs: 150,
      },
    ],
    'turn-quota': [
      {
        kind: 'error',
        status: 429,
        type: 'insufficient_quota',
        message: 'You exceeded your current quota, please check your plan and billing details.',
        headers: { 'x-should-retry': 'false' },
      },
    ],
    'turn-cut': [
      { kind: 'text', text: 'This answer breaks off in the middle of it.', pieceLength: 4, cutAfter: 4 },
      say('Whole again.'),
    ],
  };
}

const UNKNOWN_ID = '00000000-0000-4000-8000-0000000000ff';
const isType = (type: string) => (message: Message) => message.type === type;

const CLAUDE = [
  '-p',
  '--input-format',
  'stream-json',
  '--output-format',
  'stream-json',
  '--verbose',
  '--permission-prompt-tool',
  'stdio',
  '--include-partial-messages',
];
const userTurn = (content: string): Message => ({ type: 'user', message: { role: 'user', content } });

/** Answers `can_use_tool` as Claude Code and Qwen Code ask it. */
const decide =
  (behavior: 'allow' | 'deny') =>
  (message: Message): Message | undefined => {
    const request = message.request as Message | undefined;
    if (message.type !== 'control_request' || request?.subtype !== 'can_use_tool') return undefined;
    const response =
      behavior === 'allow'
        ? { behavior, updatedInput: request.input }
        : { behavior, message: 'Not this one.' };
    return {
      type: 'control_response',
      response: { subtype: 'success', request_id: message.request_id, response },
    };
  };

async function initialize(conversation: Conversation): Promise<void> {
  conversation.send({ type: 'control_request', request_id: 'request-1', request: { subtype: 'initialize' } });
  await conversation.next('answer to initialize', isType('control_response'));
}

const turns =
  (...prompts: string[]) =>
  async (conversation: Conversation): Promise<void> => {
    await initialize(conversation);
    for (const prompt of prompts) {
      conversation.send(userTurn(prompt));
      await conversation.next('result', isType('result'));
    }
  };

const claude: readonly StreamScript[] = [
  {
    name: 'turn',
    args: CLAUDE,
    play: turns('Say hello, turn-hello'),
    sessionId: ({ session_id }) => session_id,
  },
  { name: 'two-turns', args: CLAUDE, play: turns('Say hello, turn-hello', 'Go on, turn-second') },
  { name: 'tool-allowed', args: CLAUDE, answer: decide('allow'), play: turns('Run it, turn-tool') },
  { name: 'tool-denied', args: CLAUDE, answer: decide('deny'), play: turns('Run it, turn-denied') },
  {
    name: 'interrupt',
    args: CLAUDE,
    play: async (conversation) => {
      await initialize(conversation);
      conversation.send(userTurn('Talk on, turn-slow'));
      await conversation.next(
        'text',
        ({ event }) => (event as Message | undefined)?.type === 'content_block_delta',
      );
      conversation.send({
        type: 'control_request',
        request_id: 'request-2',
        request: { subtype: 'interrupt' },
      });
      await conversation.next('result', isType('result'));
    },
  },
  { name: 'quota', args: CLAUDE, play: turns('Spend it all, turn-quota') },
  {
    name: 'resume',
    args: ({ sessionId }) => [...CLAUDE, '--resume', sessionId],
    play: turns('Go on, turn-second'),
  },
  {
    name: 'resume-unknown',
    args: [...CLAUDE, '--resume', UNKNOWN_ID],
    play: async (conversation) => {
      conversation.send(userTurn('Go on, turn-second'));
      await conversation.next('result', isType('result'));
    },
  },
  {
    name: 'print-turn',
    args: ['-p', '--output-format', 'stream-json', '--verbose', 'Say hello, turn-hello'],
  },
];

const EXEC = ['exec', '--json', '--skip-git-repo-check'];
const FREE = ['--dangerously-bypass-approvals-and-sandbox'];

/** One turn of the app server; the answer to its questions is a decision. */
const appServer =
  (
    prompt: string,
    during?: (conversation: Conversation, ids: { threadId: unknown; turnId: unknown }) => Promise<void>,
  ) =>
  async (conversation: Conversation, { project }: StreamPlace): Promise<void> => {
    conversation.send({
      id: 1,
      method: 'initialize',
      params: { clientInfo: { name: 'roost-lab', title: 'Roost lab', version: '0.1.0' } },
    });
    await conversation.next('answer to initialize', ({ id }) => id === 1);
    conversation.send({ method: 'initialized' });
    conversation.send({
      id: 2,
      method: 'thread/start',
      params: { cwd: project, approvalPolicy: 'on-request', sandbox: 'workspace-write' },
    });
    const started = await conversation.next('thread', ({ id }) => id === 2);
    const threadId = ((started.result as Message).thread as Message).id;
    conversation.send({
      id: 3,
      method: 'turn/start',
      params: { threadId, input: [{ type: 'text', text: prompt }] },
    });
    const turn = await conversation.next('turn', ({ id }) => id === 3);
    const turnId = ((turn.result as Message).turn as Message).id;
    await during?.(conversation, { threadId, turnId });
    await conversation.next('end of the turn', ({ method }) => method === 'turn/completed');
  };

const decideInAppServer =
  (decision: 'accept' | 'decline') =>
  ({ id, method }: Message) =>
    typeof method === 'string' && method.endsWith('/requestApproval')
      ? { id, result: { decision } }
      : undefined;

const codex: readonly StreamScript[] = [
  { name: 'exec-turn', args: [...EXEC, 'Say hello, turn-hello'], sessionId: ({ thread_id }) => thread_id },
  { name: 'exec-tool', args: [...EXEC, ...FREE, 'Run it, turn-tool'] },
  {
    name: 'exec-resume',
    args: ({ sessionId }) => [
      'exec',
      'resume',
      '--json',
      '--skip-git-repo-check',
      sessionId,
      'Go on, turn-second',
    ],
  },
  {
    name: 'exec-resume-unknown',
    args: ['exec', 'resume', '--json', '--skip-git-repo-check', UNKNOWN_ID, 'Go on, turn-second'],
  },
  { name: 'exec-quota', args: [...EXEC, 'Spend it all, turn-quota'] },
  { name: 'exec-cut', args: [...EXEC, 'Break it, turn-cut'] },
  { name: 'app-server-turn', args: ['app-server'], play: appServer('Say hello, turn-hello') },
  {
    name: 'app-server-tool-allowed',
    args: ['app-server'],
    answer: decideInAppServer('accept'),
    play: appServer('Run it, turn-tool'),
  },
  {
    name: 'app-server-tool-denied',
    args: ['app-server'],
    answer: decideInAppServer('decline'),
    play: appServer('Run it, turn-denied'),
  },
  {
    name: 'app-server-interrupt',
    args: ['app-server'],
    play: appServer('Talk on, turn-slow', async (conversation, ids) => {
      await conversation.next('text', ({ method }) => method === 'item/agentMessage/delta');
      conversation.send({ id: 4, method: 'turn/interrupt', params: ids });
    }),
  },
  { name: 'app-server-quota', args: ['app-server'], play: appServer('Spend it all, turn-quota') },
];

const GEMINI = ['--skip-trust', '--output-format', 'stream-json'];
const gemini: readonly StreamScript[] = [
  {
    name: 'turn',
    args: [...GEMINI, '-p', 'Say hello, turn-hello'],
    sessionId: ({ session_id }) => session_id,
  },
  { name: 'tool-allowed', args: [...GEMINI, '--approval-mode', 'yolo', '-p', 'Run it, turn-tool'] },
  { name: 'tool-denied', args: [...GEMINI, '-p', 'Run it, turn-denied'] },
  { name: 'resume', args: ({ sessionId }) => [...GEMINI, '--resume', sessionId, '-p', 'Go on, turn-second'] },
  { name: 'resume-unknown', args: [...GEMINI, '--resume', UNKNOWN_ID, '-p', 'Go on, turn-second'] },
  { name: 'quota', args: [...GEMINI, '-p', 'Spend it all, turn-quota'] },
];

const OPENCODE = ['run', '--format', 'json'];
const opencode: readonly StreamScript[] = [
  { name: 'turn', args: [...OPENCODE, 'Say hello, turn-hello'], sessionId: ({ sessionID }) => sessionID },
  { name: 'tool-allowed', args: [...OPENCODE, '--auto', 'Run it, turn-tool'] },
  { name: 'tool-denied', args: [...OPENCODE, 'Run it, turn-denied'] },
  { name: 'resume', args: ({ sessionId }) => [...OPENCODE, '-s', sessionId, 'Go on, turn-second'] },
  { name: 'resume-unknown', args: [...OPENCODE, '-s', 'ses_000000000000unknown0000', 'Go on, turn-second'] },
  { name: 'quota', args: [...OPENCODE, 'Spend it all, turn-quota'] },
];

const QWEN = ['--output-format', 'stream-json'];
const QWEN_BOTH = ['--input-format', 'stream-json', ...QWEN, '--include-partial-messages'];
const qwen: readonly StreamScript[] = [
  { name: 'turn', args: [...QWEN, 'Say hello, turn-hello'], sessionId: ({ session_id }) => session_id },
  { name: 'turn-partial', args: [...QWEN, '--include-partial-messages', 'Say hello, turn-hello'] },
  { name: 'tool-yolo', args: [...QWEN, '--approval-mode', 'yolo', 'Run it, turn-tool'] },
  { name: 'tool-refused', args: [...QWEN, 'Run it, turn-denied'] },
  { name: 'resume', args: ({ sessionId }) => [...QWEN, '--resume', sessionId, 'Go on, turn-second'] },
  { name: 'resume-unknown', args: [...QWEN, '--resume', UNKNOWN_ID, 'Go on, turn-second'] },
  { name: 'quota', args: [...QWEN, 'Spend it all, turn-quota'] },
  { name: 'two-turns', args: QWEN_BOTH, play: turns('Say hello, turn-hello', 'Go on, turn-second') },
  { name: 'tool-allowed', args: QWEN_BOTH, answer: decide('allow'), play: turns('Run it, turn-tool') },
  { name: 'tool-denied', args: QWEN_BOTH, answer: decide('deny'), play: turns('Run it, turn-denied') },
];

export const STREAM_SCRIPTS: Readonly<Record<TerminalCliName, readonly StreamScript[]>> = {
  claude,
  codex,
  gemini,
  opencode,
  qwen,
};

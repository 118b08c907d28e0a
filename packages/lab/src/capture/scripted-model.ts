// The model of a capture: a prompt holds a word that names its turn, and the requests of that turn get its replies one after
// the other. Whatever a CLI asks beside the conversation (a title, a summary, suggestions) is answered apart.
import type { MockReply, RecordedRequest } from '../mock-server/replies.ts';
import { isRecord } from '../mock-server/replies.ts';
import { type MockModelServer, startMockModelServer } from '../mock-server/server.ts';

export interface ScriptedModel {
  readonly server: MockModelServer;
  /** How many requests of this turn came so far. */
  asked: (turn: string) => number;
  /** Resolves when that many requests of the turn have come. */
  waitUntilAsked: (turn: string, times: number, deadlineMs?: number) => Promise<void>;
  /** The newest request of the conversation, for the names of the tools that the CLI offers. */
  readonly toolNames: readonly string[];
}

/** The last reply of a turn is given again to whatever still asks. */
export type Turns = Readonly<Record<string, readonly [MockReply, ...MockReply[]]>>;

const SIDE_REPLY: MockReply = { kind: 'text', text: 'Small talk' };

export async function startScriptedModel(turns: Turns): Promise<ScriptedModel> {
  const counts = new Map<string, number>();
  const watchers = new Set<() => void>();
  let toolNames: readonly string[] = [];

  const server = await startMockModelServer({
    models: ['mock-model'],
    defaultReply: SIDE_REPLY,
    reply: (request) => {
      const tools = toolNamesOf(request.body);
      if (tools.length === 0) return undefined;
      toolNames = tools;
      const turn = turnOf(request, Object.keys(turns));
      if (turn === undefined) return undefined;
      const replies = turns[turn];
      const count = counts.get(turn) ?? 0;
      counts.set(turn, count + 1);
      for (const watch of watchers) watch();
      return replies?.[Math.min(count, replies.length - 1)];
    },
  });

  return {
    server,
    asked: (turn) => counts.get(turn) ?? 0,
    get toolNames() {
      return toolNames;
    },
    waitUntilAsked: (turn, times, deadlineMs = 30_000) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          if ((counts.get(turn) ?? 0) < times) return;
          clearTimeout(timer);
          watchers.delete(check);
          resolve();
        };
        const timer = setTimeout(() => {
          watchers.delete(check);
          reject(new Error(`turn ${turn} was asked ${counts.get(turn) ?? 0} times, not ${times}`));
        }, deadlineMs);
        watchers.add(check);
        check();
      }),
  };
}

/** The turn whose word stands last in the conversation: earlier prompts are sent along each time. */
function turnOf({ body }: RecordedRequest, words: readonly string[]): string | undefined {
  if (!isRecord(body)) return undefined;
  const text = JSON.stringify(body.messages ?? body.input ?? body.contents ?? '');
  let [found, at]: [string | undefined, number] = [undefined, -1];
  for (const word of words) {
    const place = text.lastIndexOf(word);
    if (place > at) [found, at] = [word, place];
  }
  return found;
}

function toolNamesOf(body: unknown): string[] {
  if (!isRecord(body) || !Array.isArray(body.tools)) return [];
  return body.tools.flatMap((tool: unknown): string[] => {
    if (!isRecord(tool)) return [];
    if (Array.isArray(tool.functionDeclarations))
      return tool.functionDeclarations.flatMap((one: unknown) =>
        isRecord(one) && typeof one.name === 'string' ? [one.name] : [],
      );
    const named: unknown = isRecord(tool.function) ? tool.function.name : tool.name;
    return [typeof named === 'string' ? named : typeof tool.type === 'string' ? tool.type : 'unnamed'];
  });
}

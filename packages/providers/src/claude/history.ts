// What Claude Code keeps of its sessions, as 2.1.197 was seen to write it: one file a session, named by its id, in a directory named
// after the one that the session ran in. What a rewound conversation left behind stays in the file, and is read with the rest.
import type { HistoryUsage } from '@roost/protocol';
import {
  addUsage,
  asCount,
  asList,
  asObject,
  asText,
  asTime,
  historyItem,
  historyTitle,
  linesOf,
  NO_USAGE,
  placeOf,
  UUID_NAME,
  type HistoryFile,
  type HistoryFiles,
  type HistoryItem,
  type HistoryReader,
  type HistorySummary,
} from '../history.ts';
import type { JsonObject } from '../json-object.ts';

export const CLAUDE_HISTORY: HistoryFiles = {
  kind: 'files',
  root: (scene) =>
    placeOf(scene, 'CLAUDE_CONFIG_DIR', { named: ['projects'], atHome: ['.claude', 'projects'] }),
  // Sub-agents have files of other names, one directory deeper or beside.
  levels: [/^[^.]/, /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.jsonl$/],
  headBytes: 64 * 1024,
  // A title is written anew at the end as the conversation goes on.
  tailBytes: 16 * 1024,
  summarise,
  reader: () => new ClaudeReader(),
};

/** What its interface puts into the conversation on behalf of a person: commands, their output, reminders. */
const NOT_TYPED =
  /^\s*<(?:command-(?:name|message|args)|local-command-(?:caveat|stdout|stderr)|bash-(?:input|stdout|stderr)|system-reminder|task-notification)>/;

function summarise({ path, head, isWhole, tail }: HistoryFile): HistorySummary | 'not-a-session' | null {
  const sessionId = path.at(-1)?.replace(/\.jsonl$/, '') ?? '';
  if (!UUID_NAME.test(sessionId)) return null;
  let isOwn = false;
  let directory: string | null = null;
  let startedAt: number | null = null;
  let model: string | null = null;
  let prompt: string | null = null;
  for (const line of linesOf(head)) {
    isOwn ||= line.sessionId === sessionId;
    startedAt ??= asTime(line.timestamp);
    directory ??= asText(line.cwd);
    if (line.type === 'assistant') model ??= asText(asObject(line.message)?.model);
    if (line.type === 'user') prompt ??= typedText(line);
    if (isOwn && directory !== null && prompt !== null && model !== null) break;
  }
  if (!isOwn) return null;
  // It was opened, and nothing was ever said.
  if (directory === null) return isWhole ? 'not-a-session' : null;
  return { sessionId, directory, startedAt, model, title: historyTitle(title(head, tail) ?? prompt) };
}

/** The last one that its person gave, else the last one that it gave itself. */
function title(head: string, tail: string): string | null {
  let custom: string | null = null;
  let own: string | null = null;
  for (const text of [head, tail]) {
    if (!text.includes('"custom-title"') && !text.includes('"ai-title"')) continue;
    for (const line of linesOf(text)) {
      if (line.type === 'custom-title') custom = asText(line.customTitle) ?? custom;
      if (line.type === 'ai-title') own = asText(line.aiTitle) ?? own;
    }
  }
  return custom ?? own;
}

/** What a person typed; null for everything else that has the role of a user. */
function typedText(line: JsonObject): string | null {
  if (line.isMeta === true || line.isSidechain === true || line.isCompactSummary === true) return null;
  const content = asObject(line.message)?.content;
  const text = asText(content) ?? textOf(content);
  return text === '' || NOT_TYPED.test(text) ? null : text;
}

function textOf(content: unknown): string {
  return asList(content)
    .flatMap((block) => {
      const { type, text } = asObject(block) ?? {};
      return type === 'text' && typeof text === 'string' ? [text] : [];
    })
    .join('\n');
}

class ClaudeReader implements HistoryReader {
  #earlier: HistoryUsage | null = null;
  /** Each block of an answer is a line of its own, which repeats the id and the counts of the whole answer. */
  #answer: { readonly id: string | null; readonly usage: HistoryUsage } | null = null;

  read(line: JsonObject): readonly HistoryItem[] {
    const at = asTime(line.timestamp);
    if (line.type === 'user') return historyItem('user', { text: typedText(line) ?? '', at });
    const message = asObject(line.message);
    if (line.type !== 'assistant' || line.isSidechain === true || message === null) return [];
    this.#count(message);
    const tools = asList(message.content).flatMap((block) => {
      const { type, name } = asObject(block) ?? {};
      return type === 'tool_use' && typeof name === 'string' ? [name] : [];
    });
    return historyItem('assistant', { text: asText(message.content) ?? textOf(message.content), tools, at });
  }

  usage(): HistoryUsage | null {
    return this.#answer === null ? this.#earlier : addUsage(this.#earlier, this.#answer.usage);
  }

  #count(message: JsonObject): void {
    const counts = asObject(message.usage);
    if (counts === null) return;
    const id = asText(message.id);
    if (this.#answer !== null && (id === null || this.#answer.id !== id)) this.#earlier = this.usage();
    this.#answer = {
      id,
      usage: {
        ...NO_USAGE,
        inputTokens: asCount(counts.input_tokens),
        cacheReadTokens: asCount(counts.cache_read_input_tokens),
        cacheWriteTokens: asCount(counts.cache_creation_input_tokens),
        outputTokens: asCount(counts.output_tokens),
      },
    };
  }
}

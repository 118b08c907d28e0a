// What Gemini CLI keeps of its sessions, as 0.61.0 was seen to write it. A session tells the hash of the directory that it ran in;
// which directory that is stands in a file for all of them. Files of earlier versions (`.json`, one document each) are not read.
import { createHash } from 'node:crypto';
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
  type HistoryFile,
  type HistoryFiles,
  type HistoryItem,
  type HistoryPlace,
  type HistoryReader,
  type HistoryScene,
  type HistorySummary,
} from '../history.ts';
import { readObject, type JsonObject } from '../json-object.ts';

export const GEMINI_HISTORY: HistoryFiles = {
  kind: 'files',
  root: (scene) => geminiPlace(scene, 'tmp'),
  levels: [/^[^.]/, /^chats$/, /^session-.+\.jsonl$/],
  companion: (scene) => geminiPlace(scene, 'projects.json'),
  headBytes: 64 * 1024,
  tailBytes: 0,
  summarise,
  reader: () => new GeminiReader(),
};

/** The variable stands for the home directory. */
function geminiPlace(scene: HistoryScene, name: string): HistoryPlace {
  const below = ['.gemini', name];
  return placeOf(scene, 'GEMINI_CLI_HOME', { named: below, atHome: below });
}

/** What it puts in front of a conversation. */
const CONTEXT = /^\s*<session_context>/;

function summarise({ path, head, companion }: HistoryFile): HistorySummary | 'not-a-session' | null {
  let own: JsonObject | null = null;
  let model: string | null = null;
  let prompt: string | null = null;
  for (const line of linesOf(head)) {
    own ??= line;
    model ??= line.type === 'gemini' ? asText(line.model) : null;
    if (line.type === 'user') prompt ??= typedText(line);
    if (prompt !== null && model !== null) break;
  }
  const sessionId = asText(own?.sessionId);
  const hash = asText(own?.projectHash);
  if (own === null || sessionId === null || hash === null) return null;
  if (own.kind !== undefined && own.kind !== 'main') return 'not-a-session';
  return {
    sessionId,
    directory: projectOf(hash, path[0] ?? '', companion),
    startedAt: asTime(own.startTime),
    model,
    title: historyTitle(prompt),
  };
}

/** The project of that directory name, if the hash says that it still is the one. */
function projectOf(hash: string, slug: string, companion: string | null): string | null {
  const projects = asObject(readObject(companion ?? '')?.projects) ?? {};
  for (const [path, name] of Object.entries(projects)) {
    if ((name === slug || slug === hash) && createHash('sha256').update(path).digest('hex') === hash)
      return path;
  }
  return null;
}

function typedText(line: JsonObject): string | null {
  const text = textOf(line.content);
  return text === '' || CONTEXT.test(text) ? null : text;
}

function textOf(content: unknown): string {
  return (
    asText(content) ??
    asList(content)
      .flatMap((part) => asText(asObject(part)?.text) ?? [])
      .join('\n')
  );
}

class GeminiReader implements HistoryReader {
  #earlier: HistoryUsage | null = null;
  /** A message is written again when its tools have run. */
  #last: { readonly id: string | null; readonly usage: HistoryUsage } | null = null;

  read(line: JsonObject): readonly HistoryItem[] {
    const at = asTime(line.timestamp);
    const id = asText(line.id);
    if (line.type === 'user') return historyItem('user', { text: typedText(line) ?? '', at });
    if (line.type !== 'gemini') return [];
    this.#count(id, asObject(line.tokens));
    const tools = asList(line.toolCalls).flatMap((call) => asText(asObject(call)?.name) ?? []);
    return historyItem('assistant', { text: textOf(line.content), tools, at, key: id?.slice(0, 64) ?? null });
  }

  usage(): HistoryUsage | null {
    return this.#last === null ? this.#earlier : addUsage(this.#earlier, this.#last.usage);
  }

  #count(id: string | null, counts: JsonObject | null): void {
    if (counts === null) return;
    if (this.#last !== null && (id === null || this.#last.id !== id)) this.#earlier = this.usage();
    const input = asCount(counts.input);
    const cached = asCount(counts.cached);
    this.#last = {
      id,
      usage: {
        ...NO_USAGE,
        inputTokens: input === null ? null : Math.max(0, input - (cached ?? 0)),
        cacheReadTokens: cached,
        outputTokens: asCount(counts.output),
        reasoningTokens: asCount(counts.thoughts),
      },
    };
  }
}

// What Qwen Code keeps of its sessions, as 0.15.10 was seen to write it: one file a session, named by its id.
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
import { isObject, type JsonObject } from '../json-object.ts';

export const QWEN_HISTORY: HistoryFiles = {
  kind: 'files',
  root: (scene) => {
    const variable = scene.environment.QWEN_RUNTIME_DIR === undefined ? 'QWEN_HOME' : 'QWEN_RUNTIME_DIR';
    return placeOf(scene, variable, { named: ['projects'], atHome: ['.qwen', 'projects'] });
  },
  levels: [/^[^.]/, /^chats$/, /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.jsonl$/],
  headBytes: 32 * 1024,
  tailBytes: 0,
  summarise,
  reader: () => new QwenReader(),
};

function summarise({ path, head }: HistoryFile): HistorySummary | 'not-a-session' | null {
  const sessionId = path.at(-1)?.replace(/\.jsonl$/, '') ?? '';
  if (!UUID_NAME.test(sessionId)) return null;
  let first: JsonObject | null = null;
  let model: string | null = null;
  let prompt: string | null = null;
  for (const line of linesOf(head)) {
    if (line.sessionId !== sessionId) continue;
    first ??= line;
    if (line.type === 'assistant') model ??= asText(line.model);
    if (line.type === 'user') prompt ??= textOf(partsOf(line)) || null;
    if (prompt !== null && model !== null) break;
  }
  if (first === null) return null;
  const title = historyTitle(prompt);
  return { sessionId, directory: asText(first.cwd), startedAt: asTime(first.timestamp), model, title };
}

function partsOf(line: JsonObject): readonly JsonObject[] {
  return asList(asObject(line.message)?.parts).filter(isObject);
}

/** Without what it only thought. */
function textOf(parts: readonly JsonObject[]): string {
  return parts.flatMap(({ text, thought }) => (thought === true ? [] : (asText(text) ?? []))).join('\n');
}

class QwenReader implements HistoryReader {
  #usage: HistoryUsage | null = null;

  read(line: JsonObject): readonly HistoryItem[] {
    const at = asTime(line.timestamp);
    const parts = partsOf(line);
    if (line.type === 'user') return historyItem('user', { text: textOf(parts), at });
    if (line.type !== 'assistant') return [];
    const counts = asObject(line.usageMetadata);
    if (counts !== null) this.#usage = addUsage(this.#usage, usageOf(counts));
    const tools = parts.flatMap(({ functionCall }) => asText(asObject(functionCall)?.name) ?? []);
    return historyItem('assistant', { text: textOf(parts), tools, at });
  }

  usage(): HistoryUsage | null {
    return this.#usage;
  }
}

function usageOf(counts: JsonObject): HistoryUsage {
  const prompt = asCount(counts.promptTokenCount);
  const cached = asCount(counts.cachedContentTokenCount);
  return {
    ...NO_USAGE,
    inputTokens: prompt === null ? null : Math.max(0, prompt - (cached ?? 0)),
    cacheReadTokens: cached,
    outputTokens: asCount(counts.candidatesTokenCount),
    reasoningTokens: asCount(counts.thoughtsTokenCount),
  };
}

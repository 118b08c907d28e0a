// What Codex keeps of its sessions, as 0.171.0 was seen to write it: one file a session, by the day on which it began. What people
// and agent said is told twice; the items of the events are without what Codex puts in front of a prompt.
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
  type HistoryReader,
  type HistorySummary,
} from '../history.ts';
import type { JsonObject } from '../json-object.ts';

export const CODEX_HISTORY: HistoryFiles = {
  kind: 'files',
  root: (scene) => placeOf(scene, 'CODEX_HOME', { named: ['sessions'], atHome: ['.codex', 'sessions'] }),
  levels: [/^\d{4}$/, /^\d\d$/, /^\d\d$/, /^rollout-.+\.jsonl$/],
  // Its instructions come before the first prompt, some 50 KiB of them.
  headBytes: 128 * 1024,
  tailBytes: 0,
  summarise,
  reader: () => new CodexReader(),
};

function summarise({ head }: HistoryFile): HistorySummary | 'not-a-session' | null {
  let own: JsonObject | null = null;
  let model: string | null = null;
  let prompt: string | null = null;
  for (const line of linesOf(head)) {
    const payload = asObject(line.payload);
    if (payload === null) continue;
    // A forked session repeats that of the one that it came from.
    if (line.type === 'session_meta') own ??= payload;
    if (own === null) return null;
    if (line.type === 'turn_context') model ??= asText(payload.model);
    const [said] = line.type === 'event_msg' ? saidIn(payload, null) : [];
    if (said?.role === 'user') prompt ??= said.text;
    if (prompt !== null && model !== null) break;
  }
  const sessionId = asText(own?.id);
  if (own === null || sessionId === null) return null;
  // Those that its agents start for themselves.
  if ((asText(own.thread_source) ?? 'user') !== 'user' || asObject(own.source)?.subagent !== undefined) {
    return 'not-a-session';
  }
  return {
    sessionId,
    directory: asText(own.cwd),
    startedAt: asTime(own.timestamp),
    model,
    title: historyTitle(prompt),
  };
}

function saidIn(payload: JsonObject, at: number | null): HistoryItem[] {
  const item = payload.type === 'item_completed' ? asObject(payload.item) : null;
  if (item === null) return [];
  const text = asList(item.content)
    .flatMap((part) => asText(asObject(part)?.text) ?? [])
    .join('\n');
  if (item.type === 'UserMessage') return historyItem('user', { text, at });
  return item.type === 'AgentMessage' ? historyItem('assistant', { text, at }) : [];
}

const CALLS: readonly unknown[] = ['function_call', 'custom_tool_call'];

class CodexReader implements HistoryReader {
  /** Of the runs before: a resumed session may count anew. */
  #earlier: HistoryUsage | null = null;
  #run: { readonly total: number; readonly usage: HistoryUsage } | null = null;

  read(line: JsonObject): readonly HistoryItem[] {
    const payload = asObject(line.payload);
    if (payload === null) return [];
    const at = asTime(line.timestamp);
    if (line.type === 'response_item' && CALLS.includes(payload.type)) {
      const name = asText(payload.name);
      return name === null ? [] : historyItem('assistant', { tools: [name], at });
    }
    if (line.type !== 'event_msg') return [];
    if (payload.type === 'token_count') this.#count(asObject(asObject(payload.info)?.total_token_usage));
    return saidIn(payload, at);
  }

  usage(): HistoryUsage | null {
    return this.#run === null ? this.#earlier : addUsage(this.#earlier, this.#run.usage);
  }

  /** Each count is of everything so far. */
  #count(counts: JsonObject | null): void {
    const total = asCount(counts?.total_tokens);
    if (counts === null || total === null) return;
    if (this.#run !== null && total < this.#run.total) this.#earlier = this.usage();
    const input = asCount(counts.input_tokens);
    const cached = asCount(counts.cached_input_tokens);
    this.#run = {
      total,
      usage: {
        ...NO_USAGE,
        inputTokens: input === null ? null : Math.max(0, input - (cached ?? 0)),
        cacheReadTokens: cached,
        cacheWriteTokens: asCount(counts.cache_write_input_tokens),
        outputTokens: asCount(counts.output_tokens),
        reasoningTokens: asCount(counts.reasoning_output_tokens),
      },
    };
  }
}

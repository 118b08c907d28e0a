// What OpenCode keeps of its sessions, as 1.18.33 was seen to write it: rows of one SQLite database, with the messages as JSON. Earlier
// versions kept files of JSON (`storage/`), which are not read: none was seen.
import type { HistoryUsage } from '@roost/protocol';
import {
  asCount,
  asText,
  asTime,
  historyItem,
  historyTitle,
  NO_USAGE,
  placeOf,
  type HistoryDatabase,
  type HistoryItem,
} from '../history.ts';
import { readObject, type JsonObject } from '../json-object.ts';

/** Characters of one part, of a title: longer ones are left out by the database itself, before they are in memory. */
const PART_MAX = 256 * 1024;
const TITLE_MAX = 4 * 1024;

const SESSION = `SELECT id, parent_id, directory, substr(title, 1, ${TITLE_MAX}) AS title, substr(model, 1, ${TITLE_MAX}) AS model,
    cost, tokens_input, tokens_output, tokens_reasoning, tokens_cache_read, tokens_cache_write, time_created, time_updated, time_archived
  FROM session`;
const MESSAGE = `SELECT id, time_created AS time, CASE WHEN length(data) <= ${PART_MAX} THEN data END AS data FROM message`;

export const OPENCODE_HISTORY: HistoryDatabase = {
  kind: 'database',
  file: (scene) => {
    const named = ['opencode', 'opencode.db'];
    return placeOf(scene, 'XDG_DATA_HOME', { named, atHome: ['.local', 'share', ...named] });
  },
  tables: {
    session: [
      'id',
      'parent_id',
      'directory',
      'title',
      'cost',
      'tokens_input',
      'tokens_output',
      'tokens_reasoning',
      'tokens_cache_read',
      'tokens_cache_write',
      'model',
      'time_created',
      'time_updated',
      'time_archived',
    ],
    message: ['id', 'session_id', 'time_created', 'data'],
    part: ['id', 'message_id', 'data'],
  },
  sessions: `${SESSION} WHERE id > ? ORDER BY id LIMIT ?`,
  session: `${SESSION} WHERE id = ?`,
  summarise: (row) => {
    const sessionId = asText(row.id);
    const modifiedAt = asTime(row.time_updated);
    if (sessionId === null || modifiedAt === null) return null;
    // Those with a parent are the work of sub-agents.
    if (row.parent_id !== null || row.time_archived !== null) return 'not-a-session';
    return {
      sessionId,
      directory: asText(row.directory),
      title: historyTitle(asText(row.title)),
      model: asText(readObject(asText(row.model) ?? '')?.id),
      startedAt: asTime(row.time_created),
      modifiedAt,
    };
  },
  messages: `${MESSAGE} WHERE session_id = ? AND (time_created, id) > (?, ?) ORDER BY time_created, id LIMIT ?`,
  newestMessages: `${MESSAGE} WHERE session_id = ? ORDER BY time_created DESC, id DESC LIMIT ?`,
  parts: `SELECT CASE WHEN length(data) <= ${PART_MAX} THEN data END AS data FROM part WHERE message_id = ? ORDER BY id LIMIT ?`,
  read,
  usage: usageOf,
};

function read(message: JsonObject, parts: readonly JsonObject[]): HistoryItem | null {
  const { role } = readObject(asText(message.data) ?? '') ?? {};
  if (role !== 'user' && role !== 'assistant') return null;
  const texts: string[] = [];
  const tools: string[] = [];
  for (const row of parts) {
    const part = readObject(asText(row.data) ?? '');
    // Synthetic ones are what it adds to a prompt by itself.
    if (part?.type === 'text' && part.synthetic !== true) texts.push(asText(part.text) ?? '');
    if (part?.type === 'tool') tools.push(asText(part.tool) ?? '');
  }
  return historyItem(role, { text: texts.join('\n'), tools, at: asTime(message.time) })[0] ?? null;
}

function usageOf(row: JsonObject): HistoryUsage | null {
  const cost = row.cost;
  return {
    ...NO_USAGE,
    inputTokens: asCount(row.tokens_input),
    cacheReadTokens: asCount(row.tokens_cache_read),
    cacheWriteTokens: asCount(row.tokens_cache_write),
    outputTokens: asCount(row.tokens_output),
    reasoningTokens: asCount(row.tokens_reasoning),
    costUsd: typeof cost === 'number' && Number.isFinite(cost) && cost >= 0 ? cost : null,
  };
}

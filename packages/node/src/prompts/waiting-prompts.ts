// Prompts that an agent has not been given yet: of one that is spoken with, all that wait for their turn; of one in a terminal, the first.
// The row of one goes before the agent gets it.
import * as z from 'zod';
import type { Sql } from '@roost/storage';

const Row = z.object({ id: z.int(), text: z.string() });
export type WaitingPrompt = z.infer<typeof Row>;

/** The first one first. */
export function waitingPrompts(sql: Sql, sessionId: string): WaitingPrompt[] {
  return sql
    .all('SELECT id, text FROM waiting_prompts WHERE session_id = ? ORDER BY id', sessionId)
    .map((row) => Row.parse(row));
}

export function hasWaitingPrompt(sql: Sql, sessionId: string): boolean {
  return sql.get('SELECT 1 FROM waiting_prompts WHERE session_id = ? LIMIT 1', sessionId) !== undefined;
}

/** Its id. */
export function insertPrompt(sql: Sql, sessionId: string, text: string): number {
  return sql.run('INSERT INTO waiting_prompts (session_id, text) VALUES (?, ?)', sessionId, text).lastId;
}

export function deletePrompt(sql: Sql, id: number): void {
  sql.run('DELETE FROM waiting_prompts WHERE id = ?', id);
}

export function deletePrompts(sql: Sql, sessionId: string): void {
  sql.run('DELETE FROM waiting_prompts WHERE session_id = ?', sessionId);
}

// The rows of conversations: what it takes to go on with one in another start of the node. What a driver knows, up to which byte
// of the output it knows it, and what it has written and the program may not have got.
import * as z from 'zod';
import {
  AgentProtocolId,
  InteractionPolicy,
  SessionId,
  type InteractionPolicy as Policy,
} from '@roost/protocol';
import type { Sql } from '@roost/storage';

const Row = z.object({
  session_id: SessionId,
  protocol: AgentProtocolId,
  /** The provider's own session that is gone on with. */
  resume: z.string().nullable(),
  /** JSON. */
  policy: z.string().nullable(),
  /** The driver's state as JSON; null before it has opened. */
  state: z.string().nullable(),
  /** Standard output was taken up to here. */
  output_end: z.int().nonnegative(),
  timeline_end: z.int().nonnegative(),
  /** Bytes of standard input in front of the outbox. */
  input_end: z.int().nonnegative(),
  /** Lines for standard input that the program may not have got, as JSON. */
  outbox: z.string(),
});
export type ConversationRow = z.infer<typeof Row>;

export function findConversation(sql: Sql, sessionId: string): ConversationRow | null {
  const row = sql.get('SELECT * FROM conversations WHERE session_id = ?', sessionId);
  return row === undefined ? null : Row.parse(row);
}

export function insertConversation(
  sql: Sql,
  conversation: Pick<ConversationRow, 'session_id' | 'protocol' | 'resume'> & { policy: Policy | null },
): void {
  const { session_id, protocol, resume, policy } = conversation;
  sql.run(
    'INSERT INTO conversations (session_id, protocol, resume, policy) VALUES (?, ?, ?, ?)',
    session_id,
    protocol,
    resume,
    policy === null ? null : JSON.stringify(policy),
  );
}

export function changeConversation(
  sql: Sql,
  sessionId: string,
  change: Pick<ConversationRow, 'state' | 'output_end' | 'timeline_end' | 'input_end' | 'outbox'>,
): void {
  sql.run(
    `UPDATE conversations SET state = ?, output_end = ?, timeline_end = ?, input_end = ?, outbox = ?
      WHERE session_id = ?`,
    change.state,
    change.output_end,
    change.timeline_end,
    change.input_end,
    change.outbox,
    sessionId,
  );
}

/** With its prompts and what it asked. */
export function deleteConversation(sql: Sql, sessionId: string): void {
  for (const table of ['conversations', 'waiting_prompts', 'interactions'] as const)
    sql.run(`DELETE FROM ${table} WHERE session_id = ?`, sessionId);
}

/** Sessions with something open: a request or a prompt that waits. */
export function unsettledConversations(sql: Sql): SessionId[] {
  return sql
    .all(
      `SELECT session_id FROM interactions WHERE state = 'pending'
        UNION SELECT session_id FROM waiting_prompts`,
    )
    .map((row) => Row.shape.session_id.parse((row as { session_id?: unknown }).session_id));
}

export function policyOf({ policy }: Pick<ConversationRow, 'policy'>): Policy {
  return InteractionPolicy.parse(policy === null ? {} : JSON.parse(policy));
}

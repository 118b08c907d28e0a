// What a keeper keeps for us about a child: enough to rebuild its row when the database no longer has it. Never an
// environment value.
import * as z from 'zod';
import { RecordId, SessionName } from '@roost/protocol';

const SessionNote = z.object({
  version: z.literal(2),
  name: SessionName,
  recordId: RecordId.nullable(),
  generation: z.int().positive(),
  provider: z.string(),
  workspaceRoot: z.string(),
  directory: z.string(),
  command: z.array(z.string()),
  createdAt: z.int(),
  /** What its record needs to be resumed; null without one, or when it is too long to be kept here. */
  resume: z
    .object({ providerSessionId: z.string().nullable(), arguments: z.array(z.string()) })
    .nullable()
    .default(null),
});
export type SessionNote = z.infer<typeof SessionNote>;

/** Characters of a note: a keeper takes a little more. */
const NOTE_LENGTH_MAX = 60 * 1024;

export function encodeNote(note: SessionNote): string {
  const text = JSON.stringify(note);
  return text.length <= NOTE_LENGTH_MAX ? text : JSON.stringify({ ...note, resume: null });
}

/** null when it was not written by a build that we understand. */
export function decodeNote(text: string): SessionNote | null {
  try {
    const parsed = SessionNote.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/** Characters of one argument, and of all, in what is shown of a command: lists of sessions stay small. */
const ARGUMENT_SHOWN_MAX = 512;
const COMMAND_SHOWN_MAX = 2_048;

/** The command as lists show it; what is cut off ends in an ellipsis. */
export function shownCommand(command: readonly string[]): string[] {
  const shown: string[] = [];
  let characters = 0;
  for (const argument of command) {
    const cut = argument.length > ARGUMENT_SHOWN_MAX ? `${argument.slice(0, ARGUMENT_SHOWN_MAX)}…` : argument;
    characters += cut.length;
    if (characters > COMMAND_SHOWN_MAX) return [...shown, '…'];
    shown.push(cut);
  }
  return shown;
}

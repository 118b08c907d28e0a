// Reads commits as `HISTORY_FORMAT` has git write them with `-z`: a fixed number of fields, each ended by NUL, which none can hold.
import {
  GIT_PERSON_BYTES_MAX,
  GIT_SUBJECT_BYTES_MAX,
  GitCommit,
  GitObjectId,
  type GitHistoryPage,
} from '@roost/protocol';
import { splitAtNul } from './repository-names.ts';

/** The subject is last: of an endless one, everything before it is known. */
const FIELDS = ['%H', '%P', '%an', '%ae', '%aI', '%cn', '%ce', '%cI', '%s'];
/** `-z` ends the last field. */
export const HISTORY_FORMAT = `--format=tformat:${FIELDS.join('%x00')}`;

/** Commits whose id is none are left out; the text of others is cut and freed of control characters. */
export function parseHistory(bytes: Buffer): GitHistoryPage['commits'] {
  const fields = splitAtNul(bytes);
  const commits: GitCommit[] = [];
  for (let at = 0; at + FIELDS.length <= fields.length; at += FIELDS.length) {
    const commit = readCommit(fields.slice(at, at + FIELDS.length).map((field) => field.toString('utf8')));
    if (commit !== null) commits.push(commit);
  }
  return commits;
}

function readCommit(fields: readonly string[]): GitCommit | null {
  const [id, parents = '', author = '', authorEmail = '', authoredAt = ''] = fields;
  const [committer = '', committerEmail = '', committedAt = '', subject = ''] = fields.slice(5);
  const [own, ...others] = [id, ...parents.split(' ').filter((parent) => parent !== '')].map((one) =>
    GitObjectId.safeParse(one),
  );
  if (own?.success !== true) return null;
  return {
    id: own.data,
    parents: others.flatMap((parent) => (parent.success ? [parent.data] : [])),
    subject: oneLine(subject, GIT_SUBJECT_BYTES_MAX),
    author: person(author, authorEmail),
    authoredAt: moment(authoredAt),
    committer: person(committer, committerEmail),
    committedAt: moment(committedAt),
  };
}

function person(name: string, email: string): GitCommit['author'] {
  return { name: oneLine(name, GIT_PERSON_BYTES_MAX), email: oneLine(email, GIT_PERSON_BYTES_MAX) };
}

/** A commit may claim any moment, or none. */
function moment(text: string): string | null {
  return GitCommit.shape.authoredAt.safeParse(text).success ? text : null;
}

function oneLine(text: string, bytesMax: number): string {
  const line = text.replace(/\p{Cc}/gu, ' ').trim();
  const bytes = Buffer.from(line);
  if (bytes.length <= bytesMax) return line;
  let end = bytesMax;
  // Not in the middle of a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}

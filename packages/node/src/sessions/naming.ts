// Names: given by the person, or the program's own with a number when it is taken. Only live sessions hold their names.
import { basename } from 'node:path';
import { NAME_LENGTH_MAX, SessionName } from '@roost/protocol';

/** Leaves room for `-` and a number. */
const STEM_LENGTH_MAX = NAME_LENGTH_MAX - 8;

/** A free name made from a provider's name or a command's path. */
export function makeSessionName(program: string, isTaken: (name: string) => boolean): SessionName {
  const stem =
    basename(program)
      .replace(/[^A-Za-z0-9._-]+/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, STEM_LENGTH_MAX) || 'session';
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? stem : `${stem}-${number}`;
    if (!isTaken(name)) return SessionName.parse(name);
  }
}

import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Session } from '@roost/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAlive, RoostHome } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';

/** Bytes of an SQLite header; the version of the schema is the big-endian number at 60. */
const HEADER_BYTES = 100;
const USER_VERSION_AT = 60;
const PAGE_BYTES = 4_096;

const overwrite = (path: string, from: number, to: number) => {
  const bytes = readFileSync(path);
  randomBytes(Math.max(0, Math.min(to, bytes.length) - from)).copy(bytes, from);
  writeFileSync(path, bytes);
};
const size = (path: string) => statSync(path).size;

interface Damage {
  readonly what: string;
  readonly damage: (database: string) => void;
  /** How it is refused, where it is refused. */
  readonly code: RegExp;
  /** Whether nothing could make up for the damage, so that it has to be refused. */
  readonly hopeless?: boolean;
}

const corrupt = /^roost: database-corrupt: /;

const DAMAGES: readonly Damage[] = [
  {
    what: 'has junk behind its end',
    damage: (path) => writeFileSync(path, randomBytes(10_000), { flag: 'a' }),
    code: corrupt,
  },
  {
    what: 'was cut in its middle',
    damage: (path) => truncateSync(path, Math.floor(size(path) / 2)),
    code: corrupt,
  },
  { what: 'was cut to nothing', damage: (path) => truncateSync(path, 0), code: corrupt },
  {
    what: 'has random bytes for a header',
    damage: (path) => overwrite(path, 0, HEADER_BYTES),
    code: corrupt,
  },
  {
    what: 'has random bytes for pages, its header intact',
    damage: (path) => overwrite(path, PAGE_BYTES, Infinity),
    code: corrupt,
  },
  {
    what: 'is a directory',
    damage: (path) => {
      rmSync(path);
      mkdirSync(path);
    },
    code: /^roost: (database-corrupt|home-unusable): /,
    hopeless: true,
  },
];

/** Of a node that was stopped properly everything is in the database itself. */
const STOPPED_DAMAGES: readonly Damage[] = [
  ...DAMAGES.map((one) => ({ ...one, hopeless: one !== DAMAGES[0] })),
  {
    what: 'is of a version that is yet to come',
    damage: (path) => {
      const bytes = readFileSync(path);
      bytes.writeUInt32BE(9_999, USER_VERSION_AT);
      writeFileSync(path, bytes);
    },
    code: /^roost: database-too-new: /,
    hopeless: true,
  },
];

/** Of a node that was killed, the newest is in the log beside the database. */
const KILLED_DAMAGES: readonly Damage[] = [
  ...DAMAGES,
  {
    what: 'has a log with a random header',
    damage: (path) => overwrite(`${path}-wal`, 0, 32),
    code: corrupt,
  },
  { what: 'has a log of junk', damage: (path) => overwrite(`${path}-wal`, 0, Infinity), code: corrupt },
  {
    what: 'has a log that was cut to a few bytes',
    damage: (path) => truncateSync(`${path}-wal`, 20),
    code: corrupt,
  },
];

/** What the files of a database hold. */
const contents = (database: string) =>
  ['', '-wal'].map((suffix) => {
    const path = database + suffix;
    return existsSync(path) && statSync(path).isFile() ? readFileSync(path).toString('base64') : null;
  });

describe.each([
  ['was stopped properly', 'stopped', STOPPED_DAMAGES],
  ['was killed', 'killed', KILLED_DAMAGES],
] as const)('a node that %s, whose database', (_, how, damages) => {
  const templates = mkdtempSync(join(tmpdir(), 'roost-template-'));
  let sessions: readonly Session[] = [];

  beforeAll(async () => {
    await using roost = new RoostHome();
    for (const code of [1, 2, 3]) await roost.run(`job-${code}`, ['sh', '-c', `exit ${code}`]);
    await waitFor('all to end', async () =>
      (await roost.sessions()).every(({ status }) => status === 'exited'),
    );
    sessions = await roost.sessions();
    const pid = await roost.nodePid();
    if (how === 'stopped') await roost.ok(['down']);
    else process.kill(pid, 'SIGKILL');
    await waitFor('the node to be gone', () => !isAlive(pid));
    cpSync(roost.home, join(templates, 'state'), {
      recursive: true,
      filter: (path) => !path.endsWith('.sock'),
    });
    rmSync(join(templates, 'state', 'keepers'), { recursive: true });
  });
  afterAll(() => rmSync(templates, { recursive: true }));

  it.each(damages.map((one) => [one.what, one] as const))(
    '%s is refused and left as it is, or loses nothing',
    async (_what, one) => {
      await using roost = new RoostHome();
      cpSync(join(templates, 'state'), roost.home, { recursive: true, preserveTimestamps: true });
      const database = join(roost.home, 'node.db');
      one.damage(database);
      const damaged = contents(database);
      const { code, stdout, stderr } = await roost.roost(['ls', '--all', '--json']);
      if (code === 0 && one.hopeless !== true) {
        expect(JSON.parse(stdout)).toEqual(sessions);
        await roost.run('next', ['cat']);
        return;
      }
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(one.code);
      expect(stderr).toMatch(/^roost: .+\n.+\n$/);
      expect(contents(database)).toEqual(damaged);
      await waitFor('the refused node to end', () => roost.daemons().length === 0);
    },
  );
});

describe('a state directory that cannot be one', () => {
  it('because a file is in its place is refused, and the file is left as it is', async () => {
    const base = mkdtempSync(join(tmpdir(), 'roost-file-'));
    const file = join(base, 'state');
    writeFileSync(file, 'mine');
    try {
      for (const home of [file, join(file, 'below')]) {
        await using roost = new RoostHome({ home });
        const { code, stdout, stderr } = await roost.roost(['up', '--no-hub']);
        expect([code, stdout]).toEqual([1, '']);
        expect(stderr).toMatch(/^roost: home-unusable: .+\n.+\n$/);
        expect(stderr).toContain(home);
      }
      expect(readFileSync(file, 'utf8')).toBe('mine');
    } finally {
      rmSync(base, { recursive: true });
    }
  });
});

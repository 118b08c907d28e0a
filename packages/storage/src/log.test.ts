import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FailureError } from '@roost/protocol';
import { openLog } from './log.ts';

let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'roost-log-'))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it('says what went wrong and none of what is secret, to its owner alone', () => {
  const path = join(directory, 'one.log');
  const secret = 'canary-5d1f';
  const log = openLog(path, 'info');
  log.warn({ err: Object.assign(new Error('no room'), { code: 'ENOSPC' }) }, 'not written');
  log.info(
    {
      err: new FailureError('storage-full'),
      code: 'unknown-session',
      token: secret,
      request: {
        authorization: secret,
        cookie: secret,
        params: { text: secret, environment: { A: secret } },
      },
    },
    'refused',
  );
  const lines = readFileSync(path, 'utf8');
  for (const word of ['storage-full', 'ENOSPC', 'unknown-session', 'refused']) expect(lines).toContain(word);
  expect(lines).not.toContain(secret);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

/** The example that docs/protocol.md gives to authors of clients: it runs as the page says, and needs what the page says. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RoostHome } from '../support/roost-home.ts';

const root = new URL('../../', import.meta.url).pathname;
const example = readFileSync(join(root, 'examples/protocol-client.mjs'), 'utf8');
const page = readFileSync(join(root, 'docs/protocol.md'), 'utf8');
const COMMAND = 'node examples/protocol-client.mjs < "$ROOST_HOME/node.token"';

test('the example is short and needs nothing but ws and node:crypto', () => {
  expect(example.trimEnd().split('\n').length).toBeLessThan(100);
  const imported = [...example.matchAll(/(?:from|import\(|require\()\s*'([^']+)'/g)].map(([, name]) => name);
  expect(imported.sort()).toEqual(['node:crypto', 'ws']);
});

test('the page shows the command that runs the example, and it does what the page says', async () => {
  expect(page).toContain(COMMAND);
  await using roost = new RoostHome();
  await roost.ok(['ls']);
  const { code, stdout, stderr } = await new Promise<{ code: number | null; stdout: string; stderr: string }>(
    (resolve, reject) => {
      const child = spawn('sh', ['-c', COMMAND], { cwd: root, env: roost.environment });
      const said = { stdout: '', stderr: '' };
      child.stdout.on('data', (text: Buffer) => (said.stdout += text.toString()));
      child.stderr.on('data', (text: Buffer) => (said.stderr += text.toString()));
      child.on('error', reject);
      child.on('close', (status) => resolve({ code: status, ...said }));
    },
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = stdout.trim().split('\n');
  const told = lines.map((line) => line.replace(/^event \d+ /, 'event '));
  expect(told.filter((line) => line.includes('session') || line.startsWith('output'))).toEqual([
    'event session-changed starting',
    'event session-changed running',
    'event session-changed exited',
    'output hi',
    'event session-removed',
  ]);
  // All that happened, but what git says of the workspace: clients of few capabilities are not told.
  const journal = await roost.json<{ sequence: number; body: { kind: string } }[]>(['events']);
  const sequences = lines.flatMap((line) => /^event (\d+)/.exec(line)?.[1] ?? []).map(Number);
  const [first = 0, last = 0] = [sequences[0], sequences.at(-1)];
  expect(sequences).toEqual(
    journal
      .filter(
        ({ sequence, body }) => sequence >= first && sequence <= last && body.kind !== 'workspace-changed',
      )
      .map(({ sequence }) => sequence),
  );
  expect(await roost.sessions()).toEqual([]);
  expect(journal.map(({ body }) => body.kind)).toContain('controller-changed');
});

/** `roost files` as people and scripts use it: the real command, a real node, real files. */
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { RoostHome } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';

const HEX = /[0-9a-f]{64}/;

let home: RoostHome;
beforeAll(async () => {
  home = new RoostHome();
  await home.ok(['workspace', 'add', '--id', 'app']);
});
afterAll(() => home[Symbol.asyncDispose]());
beforeEach(() => {
  for (const name of readdirSync(home.work)) rmSync(join(home.work, name), { recursive: true });
  mkdirSync(join(home.work, 'src/deep'), { recursive: true });
  writeFileSync(join(home.work, 'src/lib.rs'), 'old\n');
});

function refusal(code: string, hint: RegExp) {
  const stderr = expect.stringMatching(new RegExp(`roost: ${code}: .*\\n {2}.*${hint.source}`)) as string;
  return { code: 1, stdout: '', stderr };
}

describe('roost files', () => {
  test('reads, replaces, makes files and directories by workspace and path, and tells revisions', async () => {
    expect(await home.ok(['files', 'cat', 'app', 'src/lib.rs'])).toBe('old\n');
    const shown = await home.json<{ content: { revision: string } }>(['files', 'cat', 'app', 'src/lib.rs']);
    const { revision } = shown.content;
    const words = ['files', 'write', 'app', 'src/lib.rs', '--revision', revision];
    const written = await home.ok(words, { input: 'new ✓\n' });
    expect(written).toMatch(/^src\/lib\.rs [0-9a-f]{64}\n$/);
    expect(readFileSync(join(home.work, 'src/lib.rs'), 'utf8')).toBe('new ✓\n');
    const now = HEX.exec(written)?.[0];

    expect(await home.roost(words, { input: 'lost\n' })).toEqual(
      refusal(
        'repository-file-revision-conflict',
        new RegExp(`src/lib.rs: it is ${now} now; roost files cat`),
      ),
    );
    expect(readFileSync(join(home.work, 'src/lib.rs'), 'utf8')).toBe('new ✓\n');

    expect(await home.ok(['files', 'mkdir', 'app', 'docs'])).toBe('docs\n');
    expect(await home.ok(['files', 'new', 'app', 'docs/a.md'])).toMatch(/^docs\/a\.md e3b0c442/);
    expect(await home.json(['files', 'new', 'app', 'docs/b.md'])).toMatchObject({
      path: 'docs/b.md',
      byteLength: 0,
    });
    expect(await home.json(['files', 'mkdir', 'app', 'docs/c'])).toEqual({
      workspaceId: 'app',
      path: 'docs/c',
    });
    expect(readdirSync(join(home.work, 'docs')).sort()).toEqual(['a.md', 'b.md', 'c']);
    expect(await home.roost(['files', 'new', 'app', 'docs/a.md'])).toEqual(
      refusal('repository-entry-already-exists', /docs\/a.md: choose another name/),
    );
    expect(await home.roost(['files', 'mkdir', 'app', 'x/y'])).toEqual(
      refusal('repository-parent-not-found', /x\/y: roost files mkdir/),
    );
  });

  test('without a workspace means the one around, and paths from here', async () => {
    const deep = { cwd: join(home.work, 'src/deep') };
    expect(await home.ok(['files', 'cat', '../lib.rs'], deep)).toBe('old\n');
    await home.ok(['files', 'new', 'here.txt'], deep);
    expect(readdirSync(deep.cwd)).toEqual(['here.txt']);
    expect(await home.ok(['files', 'cat', join(home.work, 'src/lib.rs')], deep)).toBe('old\n');
    const outside = await home.roost(['files', 'cat', '../../../state/node.token'], deep);
    expect(outside).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('is not in workspace app'),
    });
    const nowhere = await home.roost(['files', 'cat', 'x'], { cwd: home.root });
    expect(nowhere).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no workspace is registered around'),
    });
  });

  test('takes the text of a file, and says which revision it replaces when none was named', async () => {
    writeFileSync(join(home.root, 'text'), '\ufefffrom elsewhere\r\n');
    const ran = await home.roost(['files', 'write', 'app', 'src/lib.rs', '--from', '../text']);
    expect(ran).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/replaces revision [0-9a-f]{64}, read just now/),
    });
    expect(readFileSync(join(home.work, 'src/lib.rs'), 'utf8')).toBe('\ufefffrom elsewhere\r\n');
    // As much as is allowed is more than one frame.
    const large = '"\n'.repeat(131_072);
    await home.ok(['files', 'write', 'app', 'src/lib.rs'], { input: large });
    expect(await home.ok(['files', 'cat', 'app', 'src/lib.rs'])).toBe(large);
  });

  test('refuses what is not text, on both sides, in one clear sentence', async () => {
    writeFileSync(join(home.work, 'logo.png'), Buffer.from([0x89, 0x50, 0, 0xff]));
    const notText = refusal('repository-file-not-text', /logo.png: only text of up to 262144 bytes/);
    expect(await home.roost(['files', 'cat', 'app', 'logo.png'])).toEqual(notText);
    expect(await home.roost(['files', 'write', 'app', 'logo.png'], { input: 'x' })).toEqual(notText);
    const shown = await home.json<{ content: unknown }>(['files', 'cat', 'app', 'logo.png']);
    expect(shown.content).toEqual({ kind: 'binary', byteLength: 4 });
    for (const [input, why] of [
      ['a\0', 'not UTF-8, or holds NUL'],
      ['x'.repeat(262_145), 'larger than 262144 bytes'],
    ] as const) {
      const ran = await home.roost(['files', 'write', 'app', 'src/lib.rs'], { input });
      expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
    }
    expect(readFileSync(join(home.work, 'src/lib.rs'), 'utf8')).toBe('old\n');
  });

  test('shows text on a terminal without obeying what is in it', async () => {
    writeFileSync(join(home.work, 'evil'), 'safe\x1b]0;title\x07\x1b[2Jshown\n\tend\n');
    const terminal = home.terminal(['files', 'cat', 'app', 'evil']);
    await waitFor('the command to end', () => terminal.exitCode !== null);
    expect(terminal.raw).toContain('safe�]0;title��[2Jshown');
    expect(terminal.raw).not.toContain('\x1b]0;title');
  });

  test("follows no link and leaves git's own files alone", async () => {
    writeFileSync(join(home.root, 'secret'), 'canary\n');
    symlinkSync('../secret', join(home.work, 'link'));
    mkdirSync(join(home.work, '.git/hooks'), { recursive: true });
    for (const words of [
      ['cat', 'app', 'link'],
      ['write', 'app', 'link', '--revision', '0'.repeat(64)],
      ['new', 'app', '.git/hooks/pre-commit'],
    ])
      expect(await home.roost(['files', ...words], { input: 'x' })).toEqual(
        refusal('repository-path-unsafe', /: name it/),
      );
    expect(readFileSync(join(home.root, 'secret'), 'utf8')).toBe('canary\n');
  });

  test.each([
    [['files', 'cat']],
    [['files', 'cat', 'app', 'a', 'b']],
    [['files', 'cat', 'A B', 'x']],
    [['files', 'cat', 'app', '../x']],
    [['files', 'cat', 'app', '/etc/passwd']],
    [['files', 'write', 'app', 'x', '--revision', 'abc']],
    [['files', 'write', 'app', 'x', '--from', 'none']],
    [['files', 'paint', 'app', 'x']],
  ])('%j is wrong usage', async (words) => {
    expect(await home.roost(words)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('wrong-usage'),
    });
  });
});

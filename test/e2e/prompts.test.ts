import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { addressOf } from '@roost/protocol';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { LAB_AGENT, RoostHome, type Ran } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';

let roost: RoostHome;
let log: string;
/** To a program that does not read. It takes half a minute to give up, in which the others are sent. */
let stalled: Promise<Ran>;
beforeAll(async () => {
  roost = new RoostHome();
  log = join(roost.root, 'prompts.jsonl');
  await start('deaf', '--no-read');
  stalled = roost.roost(['send', 'deaf', '-', '--paste'], { input: 'x'.repeat(400_000) });
});
afterEach(async () => {
  for (const session of (await roost.sessions()).filter(({ name }) => name === 'agent')) {
    await roost.request('session.stop', { ...addressOf(session), force: true });
    await roost.request('session.remove', addressOf(session));
  }
  rmSync(log, { force: true });
});
afterAll(() => roost[Symbol.asyncDispose]());

interface Received {
  readonly bytes: number;
  readonly sha256: string;
  readonly text: string;
}
const received = (): Received[] =>
  existsSync(log)
    ? readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Received & { kind?: string })
        .filter((one) => typeof one.sha256 === 'string')
    : [];

async function agent(...flags: string[]): Promise<void> {
  await start('agent', '--log', log, ...flags);
}

async function start(name: string, ...flags: string[]): Promise<void> {
  await roost.run(name, [process.execPath, LAB_AGENT, '--bracketed-paste', ...flags]);
  await roost.screenShows(name, /❯/);
}

/** What must arrive: the documented neutralisation, written down independently of the product. */
const neutral = (text: string) =>
  text
    .replaceAll('\x1b', '<ESC>')
    .replaceAll('\x9b', '<CSI>')
    .replaceAll('\0', '<U+0000>')
    .replaceAll('\x07', '<U+0007>');

const hostile = (bytes: number) => {
  const line =
    'line with emoji 🙂 and ESC \x1b[31m and end \x1b[201~ and start \x1b[200~ and CSI \x9b and NUL \0 bell \x07 Ж\n';
  return line.repeat(Math.ceil(bytes / Buffer.byteLength(line))).slice(0, -1);
};

// In this order: the last one has waited meanwhile.
describe('a prompt', { shuffle: false }, () => {
  it.each([
    ['1 KB', 1_024, []],
    ['10 KB', 10_240, []],
    ['10 KB into a slow reader of 1,024 bytes', 10_240, ['--read-chunk', '1024', '--read-delay', '5']],
    ['200 KB', 204_800, []],
    ['200 KB into a reader of 1,024 bytes', 204_800, ['--read-chunk', '1024']],
  ])('of %s arrives whole, its control sequences neutralised', async (_, bytes, flags) => {
    await agent(...flags);
    const text = hostile(bytes);
    await roost.ok(['send', 'agent', '-', '--paste', '--enter'], { input: text });
    const [prompt, ...more] = await waitFor('the prompt', () => (received().length > 0 ? received() : null));
    const expected = neutral(text);
    expect(more).toEqual([]);
    expect(prompt).toMatchObject({
      bytes: Buffer.byteLength(expected),
      sha256: createHash('sha256').update(expected).digest('hex'),
    });
  });

  it('arrives whole and once when eight are sent at the same time', async () => {
    await agent();
    const texts = Array.from(
      { length: 8 },
      (_, index) => `prompt ${index}\n${'x'.repeat(500)}\nend ${index}`,
    );
    const sent = await Promise.all(
      texts.map((text) =>
        roost.roost(['send', 'agent', '-', '--paste', '--enter'], { input: text, timeoutMs: 110_000 }),
      ),
    );
    expect(sent.map(({ code }) => code)).toEqual(texts.map(() => 0));
    const prompts = await waitFor('all prompts', () =>
      received().length >= texts.length ? received() : null,
    );
    expect(prompts.map(({ text }) => text).sort()).toEqual([...texts].sort());
  });

  it('is refused when typed literally with control characters, and says so', async () => {
    await agent();
    const refused = await roost.roost(['send', 'agent', 'two\nlines', '--enter']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/^roost: input-refused: [^\n]+\n[^\n]*--paste/);
    expect(received()).toEqual([]);
  });

  it('to a program that does not read fails with how much was written', async () => {
    const { code, stderr } = await stalled;
    expect(code).toBe(1);
    expect(stderr).toMatch(/^roost: input-stalled: /);
  });
});

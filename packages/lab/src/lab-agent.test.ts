import { createHash } from 'node:crypto';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type BuiltProcess, buildForTest } from './built-for-test.ts';
import { TerminalForTest } from './terminal-for-test.ts';

let agent: BuiltProcess;
let logs = 0;
const open: TerminalForTest[] = [];
const strays: number[] = [];

beforeAll(async () => {
  agent = await buildForTest('lab-agent');
});
afterAll(() => agent.remove());
afterEach(async () => {
  await Promise.all(open.splice(0).map((terminal) => terminal.close()));
  for (const pid of strays.splice(0)) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

interface Note {
  event: string;
  [fact: string]: unknown;
}

function start(args: readonly string[], answers = true) {
  const log = join(agent.directory, `log-${++logs}.jsonl`);
  const terminal = new TerminalForTest({
    file: process.execPath,
    args: [agent.file, '--log', log, ...args],
    cwd: agent.directory,
    env: { PATH: process.env.PATH ?? '', LAB_MARK: 'seen' },
    answers,
  });
  open.push(terminal);
  const notes = (event: string): Note[] =>
    (existsSync(log) ? readFileSync(log, 'utf8') : '')
      .split('\n')
      .filter((line) => line.endsWith('}'))
      .map((line) => JSON.parse(line) as Note)
      .filter((note) => note.event === event);
  const ready = () => terminal.waitFor('ready marker', (raw) => raw.includes('❯ '));
  const until = (event: string, count = 1) =>
    terminal.waitFor(`${count} x ${event}`, () => notes(event).length >= count);
  return { terminal, notes, ready, until };
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const paste = (text: string) => `\x1b[200~${text}\x1b[201~`;

describe('prompts', () => {
  test('a pasted body with newlines, emoji and ESC is received byte for byte', async () => {
    const { terminal, notes, ready, until } = start(['--bracketed-paste']);
    await ready();
    const body = `one\ntwo\r\n\u{1f680} \x1b[31mred\x1b[0m \t ü ${'x'.repeat(20_000)}\r`;
    terminal.write(paste(body));
    terminal.write('\r');
    await until('prompt');
    const bytes = Buffer.byteLength(body);
    expect(notes('prompt')).toMatchObject([{ index: 1, bytes, sha256: sha256(body), text: body }]);
    await terminal.waitFor('confirmation', (raw) =>
      raw.includes(`received ${bytes} bytes sha256=${sha256(body)}`),
    );
  });

  test('reading 1,024 bytes at a time slowly still gets a whole 200 KB paste', async () => {
    const { terminal, notes, ready, until } = start(['--read-chunk', '1024', '--read-delay', '1']);
    await ready();
    const body = 'abcdefgh'.repeat(25_600);
    terminal.write(`${paste(body)}\r`);
    await until('prompt');
    expect(notes('prompt')[0]).toMatchObject({ bytes: 204_800, sha256: sha256(body) });
  });

  test('typed text is edited, echoed and submitted by Enter', async () => {
    const { terminal, notes, ready, until } = start(['--reply', 'fine']);
    await ready();
    terminal.write('junk\x15helloü\x7f!\r');
    await until('prompt');
    expect(notes('prompt')[0]).toMatchObject({ text: 'hello!' });
    await terminal.waitFor('reply', (raw) => raw.includes('fine'));
    expect(await terminal.read()).toContain('hello');
  });

  test('nothing is taken while reading is off', async () => {
    const { terminal, notes, ready } = start(['--no-read', '--wait', '300', '--say', 'done']);
    await ready();
    terminal.write('hello\r');
    await terminal.waitFor('end of the wait', (raw) => raw.includes('done'));
    expect(notes('prompt')).toEqual([]);
  });

  test('a rule of the scenario answers a prompt, and a command is carried out', async () => {
    const scenario = { onPrompt: [{ match: '^plan', steps: [{ do: 'say', text: 'planned' }] }] };
    const { terminal, ready } = start(['--scenario-json', JSON.stringify(scenario)]);
    await ready();
    terminal.write('plan it\r');
    await terminal.waitFor('rule', (raw) => raw.includes('planned'));
    terminal.write('/env LAB_MARK\r');
    await terminal.waitFor('command', (raw) => raw.includes('env LAB_MARK=seen'));
    terminal.write('/exit 7\r');
    expect(await terminal.exit).toMatchObject({ exitCode: 7 });
  });

  test('escape interrupts the work at hand and the composer comes back', async () => {
    const { terminal, notes, ready, until } = start(['--work', '60000']);
    await ready();
    terminal.write('go\r');
    await terminal.waitFor('spinner', (raw) => raw.includes('Working…'));
    terminal.write('\x1b');
    await until('interrupt');
    expect(notes('interrupt')).toMatchObject([{ key: 'escape', busy: true }]);
    await terminal.waitFor('second marker', (raw) => raw.split('❯ ').length > 2);
  });
});

describe('the screen', () => {
  const MODES = ['--alternate-screen', '--mouse', '1000,1002,1003,1006', '--bracketed-paste', '--focus'];

  test('modes are set at the start and undone at a clean exit', async () => {
    const { terminal, ready } = start([
      ...MODES,
      '--kitty',
      '1',
      '--cursor-shape',
      '4',
      '--hide-cursor',
      '--title',
      'lab here',
    ]);
    let title = '';
    terminal.screen.onTitleChange((value) => (title = value));
    await ready();
    await terminal.read();
    expect(terminal.screen.buffer.active.type).toBe('alternate');
    expect(terminal.screen.modes).toMatchObject({
      bracketedPasteMode: true,
      mouseTrackingMode: 'any',
      sendFocusMode: true,
    });
    expect(title).toBe('lab here');
    for (const sequence of ['\x1b[?1006h', '\x1b[>1u', '\x1b[4 q', '\x1b[?25l'])
      expect(terminal.raw).toContain(sequence);
    terminal.write('/exit\r');
    expect(await terminal.exit).toMatchObject({ exitCode: 0 });
    await terminal.read();
    expect(terminal.screen.buffer.active.type).toBe('normal');
    expect(terminal.screen.modes).toMatchObject({
      bracketedPasteMode: false,
      mouseTrackingMode: 'none',
      sendFocusMode: false,
    });
    for (const sequence of ['\x1b[<u', '\x1b[?25h']) expect(terminal.raw).toContain(sequence);
  });

  test('onboarding takes only its key, and the text sent meanwhile is lost', async () => {
    const { terminal, notes, until } = start(['--onboarding', 'y,enter']);
    await terminal.waitFor('first screen', (raw) => raw.includes('Press y'));
    terminal.write('n');
    await until('onboarding');
    terminal.write('y');
    await terminal.waitFor('second screen', (raw) => raw.includes('Press enter'));
    expect(terminal.raw).not.toContain('❯');
    terminal.write('\r');
    await terminal.waitFor('ready marker', (raw) => raw.includes('❯ '));
    expect(notes('prompt')).toEqual([]);
  });

  test.each([
    [true, '1/1'],
    [false, '0/1'],
  ])('queries are counted (terminal answers: %s)', async (answers, count) => {
    const { terminal, notes, until } = start(['--query', 'da1,dsr', '--query-wait', '300'], answers);
    await until('answers');
    expect(notes('answers')).toMatchObject([{ da1: count, dsr: count }]);
    await terminal.waitFor('shown', (raw) => raw.includes(`answers da1=${count} dsr=${count}`));
  });

  test('signals, bell and title come out as sequences', async () => {
    const { terminal } = start([
      '--osc9',
      'hello',
      '--osc777',
      'head',
      '--body',
      'text',
      '--osc133',
      'C',
      '--bell',
      '--say',
      'end',
    ]);
    await terminal.waitFor('end', (raw) => raw.includes('end'));
    expect(terminal.raw).toContain('\x1b]9;hello\x07\x1b]777;notify;head;text\x07\x1b]133;C\x07\x07end');
  });

  test('a resize is noted with the new size', async () => {
    const { terminal, notes, ready, until } = start([]);
    await ready();
    terminal.process.resize(77, 33);
    await until('resize');
    expect(notes('resize').at(-1)).toMatchObject({ columns: 77, rows: 33 });
  });
});

describe('output', () => {
  test('numbered lines are complete and in order', async () => {
    const { terminal } = start(['--lines', '200', '--interval', '1', '--exit', '0', '--ready', '']);
    await terminal.exit;
    const wanted = Array.from({ length: 200 }, (_, index) => `line ${String(index + 1).padStart(6, '0')}`);
    expect(terminal.raw.split('\r\n').filter((line) => line !== '')).toEqual(wanted);
  });

  test.each(['plain', 'colour', 'cursor'])('a %s flood has exactly the bytes asked for', async (kind) => {
    const { terminal } = start(['--ready', '', '--flood', '300000', '--flood-kind', kind, '--say', 'END']);
    await terminal.waitFor('end of the flood', (raw) => raw.includes('END'));
    expect(terminal.raw.replaceAll('\r\n', '\n').indexOf('END')).toBe(300_000);
  });

  test('it exits with its code while a flood is stuck because nobody reads', async () => {
    const { terminal, ready } = start([
      '--wait',
      '200',
      '--flood',
      '500000000',
      '--exit-after',
      '700',
      '--exit-code',
      '9',
    ]);
    await ready();
    terminal.process.pause();
    const pid = terminal.process.pid;
    await terminal.waitFor('death', () => !isAlive(pid) || isZombie(pid));
    terminal.process.resume();
    expect(await terminal.exit).toMatchObject({ exitCode: 9 });
  });
});

function isZombie(pid: number): boolean {
  return spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
    .stdout.trim()
    .startsWith('Z');
}

describe('ends', () => {
  test('SIGTERM and SIGHUP are ignored when asked, and noted', async () => {
    const { terminal, notes, ready, until } = start(['--ignore', 'TERM,HUP']);
    await ready();
    terminal.process.kill('SIGTERM');
    terminal.process.kill('SIGHUP');
    await until('signal', 2);
    expect(new Set(notes('signal').map(({ signal }) => signal))).toEqual(new Set(['SIGTERM', 'SIGHUP']));
    expect(isAlive(terminal.process.pid)).toBe(true);
  });

  test('it dies of the signal that the scenario names', async () => {
    const { terminal } = start(['--kill', 'SIGKILL']);
    expect(await terminal.exit).toMatchObject({ signal: 9 });
  });

  test('SIGTERM ends it by default', async () => {
    const { terminal, ready } = start([]);
    await ready();
    terminal.process.kill('SIGTERM');
    expect(await terminal.exit).toMatchObject({ signal: 15 });
  });

  test.each(['plain', 'setsid', 'daemon'])(
    '%s descendants run, ignore SIGTERM and SIGHUP, and stand where they should',
    async (kind) => {
      const flag = kind === 'plain' ? '--spawn' : `--spawn-${kind}`;
      const { terminal, notes, until } = start([flag, '2', '--spawn-ignore']);
      await until('descendants');
      const pids = notes('descendants')[0]?.pids as number[];
      strays.push(...pids);
      expect(pids).toHaveLength(2);
      for (const pid of pids) {
        process.kill(pid, 'SIGTERM');
        process.kill(pid, 'SIGHUP');
      }
      for (const pid of pids) {
        expect(isAlive(pid)).toBe(true);
        const [session, parent] = execFileSync('ps', ['-o', 'sess=,ppid=', '-p', String(pid)], {
          encoding: 'utf8',
        })
          .trim()
          .split(/\s+/)
          .map(Number);
        expect(session === terminal.process.pid).toBe(kind === 'plain');
        expect(parent === terminal.process.pid).toBe(kind !== 'daemon');
      }
    },
  );
});

describe('structured pipe', () => {
  test('events are numbered without a gap, and the end of input ends it', async () => {
    const child = spawn(process.execPath, [agent.file, '--pipe', '--lines', '50', '--reply', 'ok'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    child.stdin.end('{"text":"hello"}\nnot json\n{"text":"/say via command"}\n');
    const code = await new Promise((resolve) => child.on('close', resolve));
    const events = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { seq: number; type: string; text?: string; json?: boolean });
    expect(code).toBe(0);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.filter(({ type }) => type === 'received').map(({ json }) => json)).toEqual([
      true,
      false,
      true,
    ]);
    expect(events.filter((event) => event.text === 'ok')).toHaveLength(3);
    expect(events.some((event) => event.text === 'via command')).toBe(true);
    expect(events.filter(({ text: line }) => line?.startsWith('line '))).toHaveLength(50);
    expect(events.at(-2)).toMatchObject({ type: 'end', received: 3 });
  });
});

test.each([
  [['--nonsense']],
  [['--lines', 'many']],
  [['--interval', '5']],
  [['--scenario-json', '{"steps":[{"do":"dance"}]}']],
])('a wrong command line is refused with a sentence: %j', async (args) => {
  const { terminal } = start(args);
  expect(await terminal.exit).toMatchObject({ exitCode: 2 });
  expect(terminal.raw).toMatch(/^lab-agent: [\w-]/);
});

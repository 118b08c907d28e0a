import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CLI, LAB_AGENT, RoostHome } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';

const has = (program: string) => {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`]);
    return true;
  } catch {
    return false;
  }
};

/** A tmux server of the test's own: a real terminal whose picture, attributes and modes can be read back. */
class Tmux {
  readonly #socket: string;
  readonly #environment: Record<string, string>;
  constructor(socket: string, environment: Record<string, string>, columns: number, rows: number) {
    this.#socket = socket;
    this.#environment = environment;
    this.run(
      '-f',
      '/dev/null',
      'new-session',
      '-d',
      '-s',
      't',
      '-x',
      String(columns),
      '-y',
      String(rows),
      'sh',
    );
    this.run('set', '-g', 'default-terminal', 'tmux-256color');
    this.run('set', '-g', 'status', 'off');
    this.run('set', '-s', 'escape-time', '0');
    this.run('set', '-g', 'allow-rename', 'on');
    this.run('set', '-g', 'window-size', 'manual');
  }

  run(...args: string[]): string {
    return execFileSync('tmux', ['-S', this.#socket, ...args], { encoding: 'utf8', env: this.#environment });
  }

  keys(...keys: string[]): void {
    this.run('send-keys', '-t', 't', ...keys);
  }

  text(): string {
    return this.run('capture-pane', '-p', '-t', 't');
  }

  /** Everything that tmux knows of the picture: cells with colours and attributes, cursor, modes, title. */
  picture(): unknown {
    const flags = [
      'cursor_x',
      'cursor_y',
      'cursor_flag',
      'alternate_on',
      'mouse_any_flag',
      'mouse_standard_flag',
      'mouse_button_flag',
      'mouse_all_flag',
      'mouse_sgr_flag',
      'mouse_utf8_flag',
      'keypad_cursor_flag',
      'keypad_flag',
      'insert_flag',
      'origin_flag',
      'wrap_flag',
      'scroll_region_upper',
      'scroll_region_lower',
      'pane_title',
    ];
    const values = this.run('display-message', '-p', '-t', 't', flags.map((flag) => `#{${flag}}`).join('|'))
      .trim()
      .split('|');
    return {
      cells: this.run('capture-pane', '-p', '-e', '-t', 't').split('\n'),
      flags: Object.fromEntries(flags.map((flag, index) => [flag, values[index]])),
    };
  }

  shows(pattern: RegExp): Promise<unknown> {
    return waitFor(`tmux to show ${String(pattern)}`, () => pattern.test(this.text()), {
      state: () => this.text().split('\n'),
    });
  }

  kill(): void {
    this.run('kill-server');
  }
}

describe.skipIf(!has('tmux'))('attach inside tmux', () => {
  let roost: RoostHome;
  let tmux: Tmux;
  let servers = 0;
  beforeAll(() => {
    roost = new RoostHome();
  });
  afterAll(() => roost[Symbol.asyncDispose]());
  beforeEach(() => {
    servers += 1;
    tmux = new Tmux(join(roost.root, `tmux-${servers}.sock`), { ...roost.environment, PS1: '$ ' }, 100, 30);
  });
  afterEach(() => tmux.kill());

  const attach = async (name: string) => {
    tmux.keys(`clear; ${process.execPath} ${CLI} attach ${name}`, 'Enter');
    await waitFor('the client', async () => (await roost.session(name)).attachedClients === 1);
  };
  const detach = async (name: string) => {
    tmux.keys('C-\\', 'd');
    await waitFor('the detach', async () => (await roost.session(name)).attachedClients === 0);
    await tmux.shows(/detached from/);
  };

  /** The same picture after detach and attach, and a sane terminal in between. */
  const survivesDetach = async (name: string) => {
    const before = await settled();
    await detach(name);
    tmux.keys('clear; echo mode check', 'Enter');
    await tmux.shows(/^mode check$/m);
    const between = tmux.picture() as { flags: Record<string, string> };
    expect(between.flags).toMatchObject({
      alternate_on: '0',
      mouse_any_flag: '0',
      cursor_flag: '1',
      keypad_cursor_flag: '0',
    });
    await attach(name);
    await waitFor(
      'the same picture',
      async () => JSON.stringify(await settled()) === JSON.stringify(before),
      {
        timeoutMs: 20_000,
        state: () => ({ before, after: tmux.picture() }),
      },
    );
  };

  /** Two looks alike: the screen has come to rest. */
  const settled = async () => {
    let last = '';
    return waitFor(
      'the screen to rest',
      () => {
        const picture = tmux.picture();
        const text = JSON.stringify(picture);
        const rests = text === last;
        last = text;
        return rests ? picture : null;
      },
      { everyMs: 150 },
    );
  };

  it('types, resizes and shows colours, wide characters and emoji, and comes back the same', async () => {
    await roost.run('a', ['bash', '--norc', '-i']);
    await attach('a');
    const script = [
      "printf '\\033[1;31mred\\033[0m \\033[38;2;10;200;30mtrue\\033[0m \\033[48;5;19mback\\033[0m \\033[4munder\\033[0m \\033[7mrev\\033[0m\\n'",
      "printf '漢字 かな 🙂 👍 e\\xcc\\x81 ─│┌ Ж\\n'",
      "printf '\\033]2;my title\\007'",
      'stty size',
    ].join('; ');
    tmux.keys(script, 'Enter');
    await tmux.shows(/^30 100$/m);
    await tmux.shows(/漢字 かな 🙂/);
    await survivesDetach('a');
    expect((tmux.picture() as { flags: Record<string, string> }).flags.pane_title).toBe('my title');
    tmux.run('resize-window', '-t', 't', '-x', '70', '-y', '20');
    tmux.keys('clear; stty size', 'Enter');
    await tmux.shows(/^20 70$/m);
  });

  it.skipIf(!has('vim'))('shows vim on the alternate screen and the shell behind it', async () => {
    const file = join(roost.work, 'file.c');
    writeFileSync(
      file,
      Array.from({ length: 200 }, (_, line) => `int line_${line} = ${line}; /* 漢字 */`).join('\n'),
    );
    await roost.run('v', ['bash', '--norc', '-i']);
    await attach('v');
    tmux.keys(`echo behind; vim -u NONE -c 'syntax on' -c 'set mouse=a number' ${file}`, 'Enter');
    await tmux.shows(/line_20 = 20/);
    tmux.keys('50G');
    await tmux.shows(/line_49/);
    await survivesDetach('v');
    tmux.keys(':q!', 'Enter');
    await tmux.shows(/behind/);
    await survivesDetach('v');
  });

  it.skipIf(!has('less'))('shows less where it was', async () => {
    const file = join(roost.work, 'long.txt');
    writeFileSync(file, Array.from({ length: 500 }, (_, line) => `text line ${line}`).join('\n'));
    await roost.run('l', ['less', file]);
    await attach('l');
    tmux.keys('100g');
    await tmux.shows(/text line 110/);
    await survivesDetach('l');
  });

  it.skipIf(!has('htop'))('shows htop with its mouse mode', async () => {
    await roost.run('h', ['htop', '-d', '1000']);
    await attach('h');
    await tmux.shows(/F10/);
    const { flags } = (await settled()) as { flags: Record<string, string> };
    await detach('h');
    await attach('h');
    await tmux.shows(/F10/);
    expect(((await settled()) as { flags: unknown }).flags).toEqual(flags);
  });

  it.each([
    ['1000', ['--mouse', '1000']],
    ['1002', ['--mouse', '1002']],
    ['1003 with 1006', ['--mouse', '1003,1006']],
    [
      'everything',
      [
        '--mouse',
        '1000,1002,1006',
        '--bracketed-paste',
        '--alternate-screen',
        '--focus',
        '--hide-cursor',
        '--title',
        'agent title',
        '--cursor-shape',
        '5',
      ],
    ],
  ])('restores modes: %s', async (modes, flags) => {
    const name = `modes-${modes.replaceAll(' ', '-')}`;
    await roost.run(name, [process.execPath, LAB_AGENT, ...flags]);
    await attach(name);
    await tmux.shows(/❯/);
    await survivesDetach(name);
  });

  it('hands bracketed paste on to a program that asked for it', async () => {
    const log = join(roost.root, 'log.jsonl');
    await roost.run('p', [process.execPath, LAB_AGENT, '--bracketed-paste', '--log', log]);
    await attach('p');
    await tmux.shows(/❯/);
    await detach('p');
    await attach('p');
    tmux.run('set-buffer', 'two\nlines');
    tmux.run('paste-buffer', '-p', '-t', 't');
    tmux.keys('Enter');
    await tmux.shows(/received 9 bytes/);
  });
});

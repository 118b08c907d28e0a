// Repositories for the demo: small, but with a history, a change that is not committed, and programs whose output has colours.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const CART = `import { price } from './price.ts';

export interface Line {
  readonly article: string;
  readonly count: number;
}

/** Cents, without what is sent along. */
export function total(lines: readonly Line[]): number {
  let sum = 0;
  for (const line of lines) {
    sum += price(line.article) * line.count;
  }
  return sum;
}
`;

const CART_CHANGED = `import { price } from './price.ts';

export interface Line {
  readonly article: string;
  readonly count: number;
}

const FREE_SENDING_CENTS = 5_000;
const SENDING_CENTS = 495;

/** Cents, with what it costs to send them. */
export function total(lines: readonly Line[]): number {
  const sum = lines.reduce((cents, { article, count }) => cents + price(article) * count, 0);
  return sum >= FREE_SENDING_CENTS ? sum : sum + SENDING_CENTS;
}
`;

/** The line that throws when there is no such user. */
export const LOGIN_CHECK = '  if (user.hash !== (await hash(password))) return null;\n';

const LOGIN = `import { find } from './users.ts';

export async function login(name: string, password: string) {
  const user = await find(name);
${LOGIN_CHECK}  return user;
}
`;

const TESTS = `
const [green, red, dim, bold, off] = ['\\x1b[32m', '\\x1b[31m', '\\x1b[2m', '\\x1b[1m', '\\x1b[0m'];
const files = ['price', 'cart', 'login', 'orders', 'search', 'stock', 'mail', 'invoice'];
console.log(bold + ' RUN ' + off + dim + ' shop, watching for changes' + off + '\\n');
for (const [index, name] of files.entries()) {
  const isBad = name === 'orders';
  console.log((isBad ? red + ' ✗' : green + ' ✓') + off + ' test/' + name + '.test.ts ' + dim + '(' + (3 + index) + ' tests) ' + (12 + 7 * index) + 'ms' + off);
}
console.log('\\n' + red + ' FAIL ' + off + ' orders > an order that is paid twice is booked once');
console.log(dim + '   expected' + off + green + ' 1 ' + off + dim + 'booking, got' + off + red + ' 2' + off);
console.log('\\n' + bold + ' Tests' + off + '  ' + red + '1 failed' + off + ' | ' + green + '51 passed' + off);
console.log(dim + ' Waiting for changes ...' + off);
setInterval(() => undefined, 60_000);
`;

const BUILD = `
const [green, cyan, dim, off] = ['\\x1b[32m', '\\x1b[36m', '\\x1b[2m', '\\x1b[0m'];
let step = 0;
const names = ['base', 'deps', 'compile', 'assets', 'bundle', 'image', 'scan'];
setInterval(() => {
  const name = names[step++ % names.length];
  console.log(cyan + '[' + name + ']' + off + ' layer ' + dim + (Math.imul(step, 2654435761) >>> 0).toString(16).padStart(8, '0') + off + green + ' done' + off + dim + ' in ' + (1 + (step % 5)) + '.' + (step % 10) + ' s' + off);
}, 700);
`;

const COMMITS: readonly (readonly [who: string, subject: string, files: Readonly<Record<string, string>>])[] =
  [
    [
      'Ada Brook',
      'Begin the shop',
      {
        'README.md': '# Shop\n\nA small shop.\n',
        'package.json': '{\n  "name": "shop",\n  "type": "module"\n}\n',
      },
    ],
    [
      'Ada Brook',
      'Prices in cents',
      { 'src/price.ts': 'export const price = (article: string) => article.length * 100;\n' },
    ],
    ['Bob Reed', 'A cart that can be summed up', { 'src/cart.ts': CART }],
    [
      'Ada Brook',
      'Log in by name and password',
      {
        'src/login.ts': LOGIN,
        'src/users.ts': 'export const find = async (name: string) => ({ name, hash: "" });\n',
      },
    ],
    [
      'Bob Reed',
      'Orders, and the mail that tells of them',
      {
        'src/orders.ts': 'export const book = () => 1;\n',
        'src/mail.ts': 'export const send = () => undefined;\n',
      },
    ],
  ];

export function makeShop(directory: string): void {
  const git = gitIn(directory);
  git('Ada Brook', 'init', '--quiet', '--initial-branch', 'main');
  for (const [who, subject, files] of COMMITS) {
    for (const [path, text] of Object.entries(files)) put(directory, path, text);
    git(who, 'add', '.');
    git(who, 'commit', '--quiet', '--message', subject);
  }
  put(directory, 'src/cart.ts', CART_CHANGED);
  put(
    directory,
    'test/cart.test.ts',
    "import { total } from '../src/cart.ts';\n\ntest('sending is free from 50 on', () => {\n  expect(total([{ article: 'lamp', count: 20 }])).toBe(8_000);\n});\n",
  );
}

export function makeSite(directory: string): void {
  const git = gitIn(directory);
  git('Bob Reed', 'init', '--quiet', '--initial-branch', 'main');
  put(directory, 'index.html', '<h1>Shop</h1>\n');
  git('Bob Reed', 'add', '.');
  git('Bob Reed', 'commit', '--quiet', '--message', 'Begin the site');
}

/** Commands of sessions, by name. */
export const PROGRAMS = {
  tests: [process.execPath, '-e', TESTS],
  image: [process.execPath, '-e', BUILD],
} as const;

export function addWorktree(directory: string, branch: string, target: string): void {
  gitIn(directory)('Ada Brook', 'worktree', 'add', '--quiet', '-b', branch, target);
}

function put(directory: string, path: string, text: string): void {
  mkdirSync(dirname(join(directory, path)), { recursive: true });
  writeFileSync(join(directory, path), text);
}

function gitIn(directory: string) {
  mkdirSync(directory, { recursive: true });
  return (who: string, ...args: string[]): void => {
    const mail = `${who.split(' ', 1)[0]?.toLowerCase() ?? ''}@example.org`;
    execFileSync('git', ['-C', directory, '-c', `user.name=${who}`, '-c', `user.email=${mail}`, ...args], {
      env: { PATH: process.env.PATH ?? '', GIT_CONFIG_NOSYSTEM: '1', HOME: '/nonexistent' },
    });
  };
}

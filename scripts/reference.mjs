// Writes docs/cli.md, docs/operations.md and docs/provider.schema.json from what the code declares; with --check only says whether
// they are current.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { format, resolveConfig } from 'prettier';

const root = new URL('..', import.meta.url).pathname;

function help(...words) {
  const environment = { PATH: process.env.PATH, HOME: '/nonexistent', COLUMNS: '100', NO_COLOR: '1' };
  const args = [join(root, 'packages/cli/dist/roost.js'), ...words, '--help'];
  return execFileSync(process.execPath, args, { encoding: 'utf8', env: environment }).trimEnd();
}

/** Names in the "Commands:" section of a help text. */
function commandsIn(text) {
  const section = text.split('\nCommands:\n')[1]?.split('\n\n')[0] ?? '';
  return section.split('\n').flatMap((line) => /^ {2}([a-z]\S*)/.exec(line)?.[1] ?? []);
}

function commandLine() {
  const top = help();
  const parts = [
    '# The roost command',
    '',
    'Try `npx roost --help`. Written by `npm run reference`.',
    '',
    '```text',
    top,
    '```',
  ];
  for (const name of commandsIn(top)) {
    const text = help(name);
    parts.push('', `## roost ${name}`, '', '```text', text.split('\n\nGlobal Options:')[0], '```');
    for (const inner of commandsIn(text).filter((one) => one !== 'help'))
      parts.push(
        '',
        `### roost ${name} ${inner}`,
        '',
        '```text',
        help(name, inner).split('\n\nGlobal Options:')[0],
        '```',
      );
  }
  parts.push(
    '',
    'Exit codes: 0 done, 1 refused or failed (standard error: `roost: CODE: sentence` and a hint), 2 wrong usage.',
    '',
  );
  return parts.join('\n');
}

async function operations() {
  const directory = mkdtempSync(join(tmpdir(), 'roost-reference-'));
  try {
    const outfile = join(directory, 'protocol.mjs');
    const contents = "export * from '@roost/protocol'; export { toJSONSchema } from 'zod';";
    const stdin = { contents, resolveDir: join(root, 'packages/protocol') };
    await build({ stdin, outfile, bundle: true, format: 'esm', platform: 'node', logLevel: 'error' });
    const { OPERATIONS, FAILURE_SENTENCES, COMMON_FAILURES, toJSONSchema } = await import(
      pathToFileURL(outfile).href
    );
    const schema = (type, io) =>
      JSON.stringify(
        toJSONSchema(type, { io, unrepresentable: 'any' }),
        (key, value) => (key === '$schema' ? undefined : value),
        2,
      );
    const parts = [
      '# Operations of a node',
      '',
      "Try `npx roost api node.status '{}'`. Written by `npm run reference`.",
      '',
    ];
    parts.push(
      `Every operation can also answer: ${COMMON_FAILURES.map((code) => `\`${code}\``).join(', ')}.`,
    );
    for (const one of Object.values(OPERATIONS)) {
      const failures = one.failures.map((code) => `\`${code}\``).join(', ') || 'none of its own';
      parts.push(
        '',
        `## ${one.name}`,
        '',
        one.summary,
        '',
        `Access: ${one.access}. Capability: ${one.capability ?? '-'}. Failures: ${failures}.`,
      );
      parts.push(
        '',
        '<details><summary>Parameters and result</summary>',
        '',
        '```json',
        schema(one.params, 'input'),
        '```',
        '',
        '```json',
        schema(one.result, 'output'),
        '```',
        '',
        '</details>',
      );
    }
    parts.push('', '## Failures', '', '| code | sentence |', '|---|---|');
    for (const [code, sentence] of Object.entries(FAILURE_SENTENCES))
      parts.push(`| \`${code}\` | ${sentence} |`);
    return [...parts, ''].join('\n');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** What a file that defines a provider may hold, for editors. */
async function providerSchema() {
  const directory = mkdtempSync(join(tmpdir(), 'roost-reference-'));
  try {
    const outfile = join(directory, 'provider-file.mjs');
    const contents = "export { ProviderFile } from './provider-file.ts'; export { toJSONSchema } from 'zod';";
    const stdin = { contents, resolveDir: join(root, 'packages/node/src/providers') };
    await build({ stdin, outfile, bundle: true, format: 'esm', platform: 'node', logLevel: 'error' });
    const { ProviderFile, toJSONSchema } = await import(pathToFileURL(outfile).href);
    const schema = toJSONSchema(ProviderFile, { io: 'input', unrepresentable: 'any' });
    return JSON.stringify({
      title: 'A provider of Roost: providers/ID.json in its state directory',
      ...schema,
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const check = process.argv.includes('--check');
let stale = 0;
for (const [name, make] of [
  ['docs/cli.md', commandLine],
  ['docs/operations.md', operations],
  ['docs/provider.schema.json', providerSchema],
]) {
  const path = join(root, name);
  const text = await format(await make(), { ...(await resolveConfig(path)), filepath: path });
  if (!check) writeFileSync(path, text);
  else if (readFileSync(path, 'utf8') !== text) {
    console.error(`${name} is not current: npm run reference`);
    stale += 1;
  }
}
process.exitCode = stale === 0 ? 0 : 1;

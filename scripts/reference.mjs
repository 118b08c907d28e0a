// Writes docs/cli.md, docs/operations.md, docs/api.md, docs/openapi.json, docs/provider.schema.json and docs/providers.md from what the code
// declares; with --check only says whether they are current.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { SOURCE_CONDITIONS } from './source-conditions.mjs';
import { format, resolveConfig } from 'prettier';

const root = new URL('..', import.meta.url).pathname;

/** CommonJS dependencies inside an ESM bundle still call `require`. */
const REQUIRE =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";
const directory = mkdtempSync(join(tmpdir(), 'roost-reference-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));

/** What a package exports, bundled from its sources. */
async function load(name, contents) {
  const outfile = join(directory, `${name}.mjs`);
  await build({
    stdin: { contents, resolveDir: join(root, 'packages', name), loader: 'ts' },
    outfile,
    bundle: true,
    format: 'esm',
    conditions: SOURCE_CONDITIONS,
    platform: 'node',
    target: 'node20',
    external: ['bufferutil', 'utf-8-validate'],
    banner: { js: REQUIRE },
    logLevel: 'error',
  });
  return import(pathToFileURL(outfile).href);
}

/** Names in the "Commands:" section of a help text. */
function commandsIn(text) {
  const section = text.split('\nCommands:\n')[1]?.split('\n\n')[0] ?? '';
  return section.split('\n').flatMap((line) => /^ {2}([a-z]\S*)/.exec(line)?.[1] ?? []);
}

async function commandLine() {
  const { runProgram } = await load('cli', "export { runProgram } from './src/program.ts';");
  // Help is as wide as the terminal it is written to: here none.
  Object.defineProperty(process.stdout, 'isTTY', { value: false });
  const help = async (...words) => {
    let text = '';
    const stdout = { write: (chunk) => (text += chunk) };
    const { stdin, stderr } = process;
    const terminal = { env: {}, directory: root, stdin, stdout, stderr, nodeScript: '' };
    const code = await runProgram([...words, '--help'], terminal);
    if (code !== 0) throw new Error(`roost ${words.join(' ')} --help ended with ${code}`);
    return text.trimEnd();
  };

  const top = await help();
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
    const text = await help(name);
    parts.push('', `## roost ${name}`, '', '```text', text.split('\n\nGlobal Options:')[0], '```');
    for (const inner of commandsIn(text).filter((one) => one !== 'help'))
      parts.push(
        '',
        `### roost ${name} ${inner}`,
        '',
        '```text',
        (await help(name, inner)).split('\n\nGlobal Options:')[0],
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
  const { OPERATIONS, FAILURE_SENTENCES, COMMON_FAILURES, toJSONSchema } = await load(
    'protocol',
    "export * from '@roost/protocol'; export { toJSONSchema } from 'zod';",
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
  parts.push(`Every operation can also answer: ${COMMON_FAILURES.map((code) => `\`${code}\``).join(', ')}.`);
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
}

/** What a file that defines a provider may hold, for editors. */
async function providerSchema() {
  const { ProviderFile, toJSONSchema } = await load(
    'node',
    "export { ProviderFile } from './src/providers/provider-file.ts'; export { toJSONSchema } from 'zod';",
  );
  const schema = toJSONSchema(ProviderFile, { io: 'input', unrepresentable: 'any' });
  return JSON.stringify({
    title: 'A provider of Roost: providers/ID.json in its state directory',
    ...schema,
  });
}

/** What real agents were seen to do, and which versions and options are relied on. */
async function providers() {
  const { PROVIDERS, optionValues } = await load(
    'providers',
    "export { PROVIDERS, optionValues } from './src/index.ts';",
  );
  const { features, rows } = JSON.parse(readFileSync(join(root, 'docs/providers.json'), 'utf8'));
  const columns = rows.map(({ provider, transport }) => `${provider} ${transport}`);
  const table = (titles, lines) => [
    `| ${titles.join(' | ')} |`,
    `|${titles.map(() => '---').join('|')}|`,
    ...lines.map((cells) => `| ${cells.join(' | ')} |`),
  ];
  const range = ({ version }) =>
    version === null
      ? 'all'
      : version.known === null
        ? 'none'
        : `${version.known.from} to below ${version.known.below ?? 'any'}`;
  const spoken = ({ transports, structured }) =>
    transports.pipe.prompt === 'spoken' ? structured.protocol : '-';
  const resumed = ({ transports }) =>
    ['pty', 'pipe'].filter((transport) => transports[transport].resume !== null).join(', ') || '-';
  const optionsOf = ({ options }) =>
    Object.entries(options)
      .map(([name, option]) => {
        const values = optionValues(option);
        return values === null ? name : `${name} (${values.join(', ')})`;
      })
      .join('; ') || '-';
  return [
    '# Providers',
    '',
    'Try `npx roost provider ls`. Written by `npm run reference`, the first table from what `npm run lab:matrix` saw.',
    '',
    '## What real agents were seen to do',
    '',
    'Each cell is a step of a story that is run with the real program against a local model server: `pty` in its terminal, `pipe` spoken',
    'with in its protocol. The tests fail when a cell is no longer true; every run of them tries Claude Code and Codex, one with',
    '`ROOST_ATTACK=full` all. An empty cell was not tried in that transport.',
    '',
    ...table(
      ['', ...columns],
      [
        ['version', ...rows.map(({ version }) => version)],
        ...Object.entries(features).map(([id, title]) => [title, ...rows.map(({ seen }) => seen[id] ?? '')]),
      ],
    ),
    '',
    '## What a launch relies on',
    '',
    'Versions outside of these run as plain terminals. Of a provider with none, nothing was ever tried: what is read about it is not relied on.',
    '',
    ...table(
      [
        'provider',
        'known versions',
        'resumed in',
        'spoken with in',
        'reports by hooks',
        'history is read',
        'options',
      ],
      PROVIDERS.map((one) => [
        one.id,
        range(one),
        resumed(one),
        spoken(one),
        one.hooks === undefined ? '-' : 'yes',
        one.history === undefined ? '-' : 'yes',
        optionsOf(one),
      ]),
    ),
    '',
    '## Known faults of theirs',
    '',
    '- Gemini CLI 0.61.0 empties a session that is loaded over ACP in the minute in which it began. Resume it a minute later.',
    '- Gemini CLI 0.61.0 takes hooks from the settings of its person, project or system only: it is watched by its screen.',
    '- Qwen Code 0.15.10 offers to resume over ACP and cannot; Roost loads the session instead.',
    '- OpenCode 1.18.33 needs two Escapes, one after the other, to end a turn in its terminal.',
    '',
  ].join('\n');
}

/** The API of a hub: for programs, and for people. */
function api(make) {
  return async () => {
    const { apiPage, openApiDocument } = await load(
      'hub',
      "export { apiPage } from './src/http/api-page.ts'; export { openApiDocument } from './src/http/openapi.ts';",
    );
    const { version } = JSON.parse(readFileSync(join(root, 'packages/cli/package.json'), 'utf8'));
    return make({ apiPage, openApiDocument }, version);
  };
}

const check = process.argv.includes('--check');
let stale = 0;
for (const [name, make] of [
  ['docs/cli.md', commandLine],
  ['docs/operations.md', operations],
  ['docs/api.md', api(({ apiPage }, version) => apiPage(version))],
  ['docs/openapi.json', api(({ openApiDocument }, version) => JSON.stringify(openApiDocument(version)))],
  ['docs/provider.schema.json', providerSchema],
  ['docs/providers.md', providers],
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

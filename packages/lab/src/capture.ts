// Captures what real CLIs show, say and leave behind, as material for the tests of what reads them:
//   capture [CLI...] [--only screens|streams|session] [--version X] [--compare]
// Writes packages/providers/fixtures/CLI; with --compare or another version it writes nothing and reports what is different
// in form.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type CapturedFiles, differences, readFixtures, writeFixtures } from './capture/fixtures.ts';
import { Normaliser } from './capture/normalise.ts';
import { captureScreens } from './capture/screens.ts';
import { captureSession } from './capture/session.ts';
import { captureStreams } from './capture/streams.ts';
import { type RealCli, ensureRealCli } from './real-cli/install.ts';
import { PINNED, type RealCliName, TERMINAL_CLIS, type TerminalCliName } from './real-cli/versions.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', multiple: true },
    version: { type: 'string' },
    compare: { type: 'boolean', default: false },
    out: { type: 'string', default: 'packages/providers/fixtures' },
  },
});

/** Files by the name of their folder. */
type Capture = (cli: RealCliName, real: RealCli) => Promise<Record<string, CapturedFiles>>;

const isTerminalCli = (cli: RealCliName): cli is TerminalCliName => TERMINAL_CLIS.some((one) => one === cli);

const CAPTURES: Readonly<Record<string, Capture>> = {
  screens: async (cli, real) => {
    if (!isTerminalCli(cli)) return {};
    const shots = await captureScreens(cli, real);
    const text = (shot: unknown) => `${JSON.stringify(new Normaliser().value(shot), null, 2)}\n`;
    return { screens: new Map([...shots].map(([name, shot]) => [`${name}.json`, text(shot)])) };
  },
  streams: async (cli, real) => ({ streams: await captureStreams(cli, real) }),
  session: async (cli, real) => (isTerminalCli(cli) ? captureSession(cli, real) : {}),
};

const all = Object.keys(PINNED) as RealCliName[];
for (const name of positionals.length === 0 ? all : positionals) {
  const cli = all.find((one) => one === name);
  if (cli === undefined) throw new Error(`no CLI ${name}: ${all.join(', ')}`);
  const real = await ensureRealCli(cli, values.version === undefined ? {} : { version: values.version });
  for (const [kind, capture] of Object.entries(CAPTURES)) {
    if (values.only !== undefined && !values.only.includes(kind)) continue;
    const startedAt = performance.now();
    for (const [folder, files] of Object.entries(await capture(cli, real))) {
      if (files.size === 0) continue;
      const seconds = Math.round((performance.now() - startedAt) / 1000);
      console.log(`${cli} ${real.version}: ${files.size} files of ${folder} in ${seconds} s`);
      const place = join(values.out, cli);
      if (values.compare || values.version !== undefined) {
        const found = differences(await readFixtures(place, folder), files);
        console.log(found.length === 0 ? '  the same in form' : found.map((line) => `  ${line}`).join('\n'));
      } else await writeFixtures(place, folder, files);
    }
  }
}

/**
 * The `roost` command. What a start costs is counted in milliseconds: this file loads next to nothing; the program beside it
 * is one file, compiled ahead (code-cache.ts), of which each command runs only what it uses.
 */
import { fileURLToPath } from 'node:url';
import { loadCached } from './code-cache.ts';
import type * as Program from './program.ts';
import { PROGRAM_HASH, VERSION } from './version.ts';

const argv = process.argv.slice(2);

// A reader that went away (`roost ls | head`) is no failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });
}

if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  process.stdout.write(`${VERSION}\n`);
} else {
  const program = fileURLToPath(new URL('./program.cjs', import.meta.url));
  const { runProgram } = loadCached(program, PROGRAM_HASH) as typeof Program;
  process.exitCode = await runProgram(argv, {
    env: process.env,
    directory: process.cwd(),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    nodeScript: fileURLToPath(new URL('./node.js', import.meta.url)),
    hubScript: fileURLToPath(new URL('./hub.js', import.meta.url)),
  });
}

// Everything that a change must pass before its tests, as many at once as there are processors. Each says what it has to say
// when it ends, in one piece.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Scripts of package.json; those that take longest first. */
const CHECKS = ['lint', 'typecheck', 'format:check', 'unused', 'reference:check', 'coverage:check'];

function run(name) {
  return new Promise((resolve, reject) => {
    const child = spawn('npm', ['run', '--silent', name], { stdio: ['ignore', 'pipe', 'pipe'] });
    const output = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => resolve({ passed: code === 0, output: Buffer.concat(output) }));
  });
}

const waiting = [...CHECKS];
async function runWaiting() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const { passed, output } = await run(name);
    process.stdout.write(output);
    if (passed) continue;
    console.error(`npm run ${name} failed`);
    process.exitCode = 1;
  }
}
await Promise.all(Array.from({ length: availableParallelism() }, runWaiting));

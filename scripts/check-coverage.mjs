// Says whether docs/reference-coverage.md is true: every row is shown by something, and every test and decision it names is there.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const root = new URL('..', import.meta.url).pathname;
const DOCUMENT = 'docs/reference-coverage.md';
const decisions = readdirSync(join(root, 'docs/decisions'));

/** What is wrong with one entry of the third column; null when nothing is. */
function faultOf(entry) {
  if (/^later: \S/.test(entry)) return null;
  const decision = /^decision (\d{3})$/.exec(entry)?.[1];
  if (decision !== undefined)
    return decisions.some((name) => name.startsWith(`${decision}-`)) ? null : `no decision ${decision}`;
  const [, path, test] = /^`([^`]+\.test\.ts)`: "(.+)"$/.exec(entry) ?? [];
  if (path === undefined || test === undefined) return `neither test, decision nor later: ${entry}`;
  if (!existsSync(join(root, path))) return `no file ${path}`;
  const source = readFileSync(join(root, path), 'utf8').replaceAll(/\\(['"`])/g, '$1');
  const isNamed = ["'", '"', '`'].some((quote) => source.includes(`(${quote}${test}${quote}`));
  // Long titles stand on a line of their own.
  const isAlone = source.split('\n').some((line) => /^(['"`])(.*)\1,$/.exec(line.trim())?.[2] === test);
  return isNamed || isAlone ? null : `no test "${test}" in ${path}`;
}

const faults = [];
const keys = new Set();
readFileSync(join(root, DOCUMENT), 'utf8')
  .split('\n')
  .forEach((line, index) => {
    if (!line.startsWith('|') || /^\|[ -]+\|/.test(line) || line.startsWith('| key |')) return;
    const fault = (text) => faults.push(`${DOCUMENT}:${index + 1}: ${text}`);
    const cells = line.split('|').slice(1, -1);
    if (cells.length !== 3) return fault('a row has three columns');
    const [key, criterion, shownBy] = cells.map((cell) => cell.trim());
    if (!/^[a-z]+(-[a-z]+)*-\d\d$/.test(key)) fault(`not a key: ${key}`);
    if (keys.has(key)) fault(`a second ${key}`);
    keys.add(key);
    if (criterion === '') fault(`${key} says nothing`);
    for (const entry of shownBy.split('<br>')) {
      const found = faultOf(entry.trim());
      if (found !== null) fault(`${key}: ${found}`);
    }
  });

if (keys.size === 0) faults.push(`${DOCUMENT} has no rows`);
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;

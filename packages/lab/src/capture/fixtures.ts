// Where captures are kept, and what is new in a fresh capture against the one that is kept: in form, not in words that
// change with each run.
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ScreenFixture } from './stage.ts';

/** A capture as files: the path in the folder of its CLI, and the text. */
export type CapturedFiles = Map<string, string>;

export async function writeFixtures(folder: string, kind: string, files: CapturedFiles): Promise<void> {
  await rm(join(folder, kind), { recursive: true, force: true });
  for (const [path, text] of files) {
    const file = join(folder, kind, path);
    await mkdir(join(file, '..'), { recursive: true });
    await writeFile(file, text);
  }
}

export async function readFixtures(folder: string, kind: string): Promise<CapturedFiles> {
  const files: CapturedFiles = new Map();
  const entries = await readdir(join(folder, kind), { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    files.set(file.slice(join(folder, kind).length + 1), await readFile(file, 'utf8'));
  }
  return files;
}

/** One line for each difference; none when the two say the same in form. */
export function differences(before: CapturedFiles, after: CapturedFiles): string[] {
  const found: string[] = [];
  for (const path of [...new Set([...before.keys(), ...after.keys()])].sort()) {
    const [old, now] = [before.get(path), after.get(path)];
    if (old === undefined) found.push(`${path}: new`);
    else if (now === undefined) found.push(`${path}: gone`);
    else {
      const [oldForm, newForm] = [formOf(path, old), formOf(path, now)];
      for (const line of oldForm) if (!newForm.has(line)) found.push(`${path}: - ${line}`);
      for (const line of newForm) if (!oldForm.has(line)) found.push(`${path}: + ${line}`);
    }
  }
  return found;
}

function formOf(path: string, text: string): Set<string> {
  if (path.endsWith('.jsonl'))
    return new Set(
      text
        .trim()
        .split('\n')
        .flatMap((line) => shapeOfLine(line)),
    );
  const value: unknown = JSON.parse(text);
  if (isScreen(value)) return new Set(value.lines.map(maskLine).filter((line) => line !== ''));
  return new Set([...keysOf(value)]);
}

const isScreen = (value: unknown): value is ScreenFixture =>
  typeof value === 'object' && value !== null && 'lines' in value && 'columns' in value;

/** Numbers, spinners and the run of rules and spaces are not form. */
const maskLine = (line: string): string =>
  line
    .replaceAll(/[\u2800-\u28ff✢✳✶✻✽·∗⬝■●○◐◓◑◒]/g, '*')
    .replaceAll(/\d+/g, '0')
    .replaceAll(/─+/g, '─')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** The keys of a line behind the words that tell its kind. */
function shapeOfLine(line: string): string[] {
  const value = parsed(line);
  if (value === undefined) return [`text ${maskLine(line)}`];
  const kind = kindOf(value);
  return [...keysOf(value)].map((key) => `${kind}: ${key}`);
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function kindOf(value: Record<string, unknown>): string {
  const words: unknown[] = [value.type, value.subtype, value.method];
  for (const inner of [value.event, value.item, value.part, value.params, value.payload])
    if (typeof inner === 'object' && inner !== null && 'type' in inner) words.push(inner.type);
  return words.filter((word) => typeof word === 'string').join('/') || 'object';
}

function* keysOf(value: unknown, path = ''): Generator<string> {
  if (Array.isArray(value)) {
    if (value.length === 0) yield `${path}[]`;
    for (const one of value) yield* keysOf(one, `${path}[]`);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, one] of Object.entries(value)) yield* keysOf(one, `${path}.${maskKey(key)}`);
  } else yield `${path} ${value === null ? 'null' : typeof value}`;
}

/** Keys that are themselves data: paths, ids, models. */
const maskKey = (key: string): string => (/[/\d-]/.test(key) ? '*' : key);

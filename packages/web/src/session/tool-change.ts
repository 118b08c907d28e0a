// What a tool call does to a file, read from its input: pure. Inputs are the agents' own and change with their versions: one that is not
// known here is shown as the text that it is.

export interface ToolChange {
  readonly path: string;
  readonly lines: readonly ChangedLine[];
}

export interface ChangedLine {
  readonly sign: '+' | '-' | ' ';
  readonly text: string;
}

/** What agents call the file that a tool works on. */
const PATHS = ['file_path', 'filePath', 'path', 'absolute_path', 'notebook_path'] as const;
/** Lines around a change that are shown as they are. */
const CONTEXT_LINES = 2;
/** Lines of one change that are shown. */
const LINES_MAX = 400;

/** What a tool works on, in a line: a file, a command, a pattern; null: not known here. `input`: JSON as text. */
export function toolSubject(input: string): string | null {
  const fields = parseObject(input);
  if (fields === null) return null;
  return textOf(fields, ...PATHS, 'command', 'cmd', 'pattern', 'query', 'url', 'description');
}

/** null: it changes no file, or not in a way that is known here. `input`: JSON as text. */
export function toolChange(input: string): ToolChange | null {
  const fields = parseObject(input);
  if (fields === null) return null;
  const path = textOf(fields, ...PATHS);
  if (path === null) return null;
  const before = textOf(fields, 'old_string', 'oldString', 'old_text', 'oldText');
  const after = textOf(fields, 'new_string', 'newString', 'new_text', 'newText', 'content');
  if (after === null) return null;
  const lines = changedLines(before ?? '', after);
  return { path, lines: lines.slice(0, LINES_MAX) };
}

/** What is different, with a little of what is not around it. */
export function changedLines(before: string, after: string): ChangedLine[] {
  const old = linesOf(before);
  const fresh = linesOf(after);
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head++;
  let tail = 0;
  while (tail < old.length - head && tail < fresh.length - head && old.at(-1 - tail) === fresh.at(-1 - tail))
    tail++;
  const same = (text: string): ChangedLine => ({ sign: ' ', text });
  return [
    ...old.slice(Math.max(0, head - CONTEXT_LINES), head).map(same),
    ...old.slice(head, old.length - tail).map((text): ChangedLine => ({ sign: '-', text })),
    ...fresh.slice(head, fresh.length - tail).map((text): ChangedLine => ({ sign: '+', text })),
    ...fresh.slice(fresh.length - tail, fresh.length - tail + CONTEXT_LINES).map(same),
  ];
}

function linesOf(text: string): string[] {
  if (text === '') return [];
  return text.replace(/\n$/, '').split('\n');
}

function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    // Cut at its bound, or no JSON: it is shown as text.
    return null;
  }
}

function textOf(fields: Readonly<Record<string, unknown>>, ...names: string[]): string | null {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === 'string') return value;
  }
  return null;
}

/** A difference for people: coloured line by line on a terminal, as git wrote it when piped, or only numbers. */
import type { GitDiff, GitDiffFile } from '@roost/protocol';
import type { CommandContext } from './command-context.ts';
import { paletteFor, type Paint, type Palette } from './paint.ts';
import { printableLines } from './printable.ts';
import { layOutTable } from './table.ts';

export interface DiffOptions {
  readonly stat?: boolean;
  readonly json?: boolean;
}

export function printDiff(context: CommandContext, diff: GitDiff, options: DiffOptions): void {
  if (options.json === true) {
    context.printJson(diff);
    return;
  }
  const { stdout, env } = context.terminal;
  const palette = paletteFor(stdout, env);
  if (options.stat === true) printNumbers(context, diff, palette);
  else stdout.write(stdout.isTTY ? paintPatch(diff.patch, palette) : diff.patch);
  if (diff.files.length === 0 && diff.unnameable === 0) context.note('no changes');
  for (const note of notesOf(diff, options)) context.note(note);
}

function notesOf(diff: GitDiff, { stat }: DiffOptions): string[] {
  const notes: string[] = [];
  if (diff.filesCut) notes.push('there are more files than one answer lists');
  if (diff.unnameable > 0) notes.push(`left out because their names are no text: ${diff.unnameable}`);
  if (stat === true) return notes;
  if (diff.patchCut) notes.push('the text is cut; --stat   lists the files, one path alone shows more of it');
  if (diff.patchLossy) notes.push('some of it is no UTF-8 text and is not shown as it is');
  return notes;
}

/** No control character of a file acts on the terminal; tabs stay. */
export function paintPatch(patch: string, palette: Palette): string {
  return patch.replace(/[^\n]+/g, (line) => paintOf(line, palette)(printableLines(line)));
}

const HEADERS =
  /^(?:diff |index |--- |\+\+\+ |old mode|new mode|new file|deleted file|similarity|rename|copy)/;
const same: Paint = (text) => text;

function paintOf(line: string, palette: Palette): Paint {
  if (HEADERS.test(line)) return palette.strong;
  if (line.startsWith('@@')) return palette.faint;
  if (line.startsWith('+')) return palette.good;
  if (line.startsWith('-')) return palette.bad;
  return line.startsWith('* Unmerged') ? palette.warn : same;
}

function printNumbers(context: CommandContext, { files }: GitDiff, palette: Palette): void {
  if (files.length === 0) return;
  const { stdout } = context.terminal;
  const columns = [
    { title: 'ADDED', align: 'right' },
    { title: 'DELETED', align: 'right' },
    { title: 'STATUS' },
    { title: 'PATH', shrinksTo: 12 },
  ] as const;
  const rows = files.map((file) => [
    { text: lines(file, file.additions), paint: palette.good },
    { text: lines(file, file.deletions), paint: palette.bad },
    { text: file.status },
    { text: file.previousPath === null ? file.path : `${file.path} (from ${file.previousPath})` },
  ]);
  const width = stdout.isTTY ? stdout.columns : Number.POSITIVE_INFINITY;
  const [header = '', ...body] = layOutTable(columns, rows, width);
  context.print([palette.strong(header), ...body].join('\n'));
}

function lines({ binary }: GitDiffFile, count: number | null): string {
  if (count === null) return binary ? 'binary' : '?';
  return String(count);
}

/** `roost files`: reading and changing files of workspaces, wherever their node is. */
import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { FailureError, FileRevision, WORKSPACE_FILE_BYTES_MAX, type FileContent } from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';
import { printableLines } from '../printable.ts';
import { UsageError } from '../usage-error.ts';
import { readWorkspacePath, type WorkspacePath } from '../workspace-path.ts';

const OPERANDS = 'WORKSPACE PATH; or PATH alone, from here, in the workspace around';

interface WriteOptions {
  readonly from?: string;
  readonly revision?: string;
  readonly json?: boolean;
}

export function define(command: Command, context: CommandContext): void {
  const verb = (name: string, description: string) =>
    command
      .command(name)
      .description(description)
      .argument('<path...>', OPERANDS)
      .option('--json', 'print one JSON document');

  verb('cat', 'print a text file').action(async (words: string[], options: { json?: boolean }) => {
    const place = await readPlace(context, words);
    const answer = await (await context.node()).request('workspace.readFile', place);
    if (options.json === true) context.printJson(answer);
    else {
      const { text } = requireText(answer.content, place);
      const { stdout } = context.terminal;
      stdout.write(stdout.isTTY ? printableLines(text) : text);
    }
  });

  verb('write', 'replace the text of a file by standard input')
    .option('--from <file>', 'by the text of this file instead')
    .option('--revision <revision>', 'only if the file still has this one (default: the one it has now)')
    .action(async (words: string[], options: WriteOptions) => {
      const named = options.revision === undefined ? undefined : readRevision(options.revision);
      const place = await readPlace(context, words);
      const text = await readText(context, options.from);
      const connection = await context.node();
      const expectedRevision = named ?? (await currentRevision(context, place));
      const written = await connection.request('workspace.writeFile', { ...place, expectedRevision, text });
      if (options.json === true) context.printJson(written);
      else context.print(`${written.path} ${written.revision}`);
    });

  verb('new', 'make an empty file').action(async (words: string[], options: { json?: boolean }) => {
    const place = await readPlace(context, words);
    const made = await (await context.node()).request('workspace.createFile', place);
    if (options.json === true) context.printJson(made);
    else context.print(`${made.path} ${made.revision}`);
  });

  verb('mkdir', 'make a directory').action(async (words: string[], options: { json?: boolean }) => {
    const place = await readPlace(context, words);
    const made = await (await context.node()).request('workspace.createDirectory', place);
    if (options.json === true) context.printJson(made);
    else context.print(made.path);
  });
}

async function readPlace(context: CommandContext, words: readonly string[]): Promise<WorkspacePath> {
  if (words.length > 2) throw new UsageError(`name one file: ${OPERANDS}`);
  return readWorkspacePath(context, words);
}

/** The revision that is there, said aloud: what is replaced may not be what the caller saw. */
async function currentRevision(context: CommandContext, place: WorkspacePath): Promise<FileRevision> {
  const { content } = await (await context.node()).request('workspace.readFile', place);
  const { revision } = requireText(content, place);
  context.note(`replaces revision ${revision}, read just now; --revision R   replaces only what you saw`);
  return revision;
}

function requireText(content: FileContent, place: WorkspacePath): Extract<FileContent, { kind: 'text' }> {
  switch (content.kind) {
    case 'text':
      return content;
    case 'binary':
    case 'too-large':
      throw new FailureError('repository-file-not-text', { ...place, limitBytes: WORKSPACE_FILE_BYTES_MAX });
  }
}

function readRevision(text: string): FileRevision {
  const parsed = FileRevision.safeParse(text);
  if (!parsed.success) throw new UsageError(`'${text}' is no revision: 64 hexadecimal digits`);
  return parsed.data;
}

async function readText(context: CommandContext, from: string | undefined): Promise<string> {
  const { stdin, directory } = context.terminal;
  const bytes = await readBounded(
    from === undefined ? stdin : createReadStream(resolve(directory, from)),
    from,
  );
  if (bytes.includes(0) || !isUtf8(bytes)) throw new UsageError('the text is not UTF-8, or holds NUL');
  return bytes.toString('utf8');
}

async function readBounded(
  stream: AsyncIterable<Buffer | string>,
  from: string | undefined,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of stream) {
      const bytes = Buffer.from(chunk);
      chunks.push(bytes);
      length += bytes.length;
      if (length > WORKSPACE_FILE_BYTES_MAX) break;
    }
  } catch (error) {
    throw new UsageError(
      `${from ?? 'standard input'} cannot be read: ${error instanceof Error ? error.message : ''}`,
    );
  }
  if (length > WORKSPACE_FILE_BYTES_MAX) {
    throw new UsageError(`the text is larger than ${WORKSPACE_FILE_BYTES_MAX} bytes`);
  }
  return Buffer.concat(chunks);
}

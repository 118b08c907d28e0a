/** `roost answer`: what agents ask, and the answer to it. */
import type { Command } from 'commander';
import { FailureError, type Interaction, type InteractionReply } from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';
import { paletteFor } from '../paint.ts';
import { printable, printableLines } from '../printable.ts';
import { describeAge } from '../quantities.ts';
import { UsageError } from '../usage-error.ts';

interface AnswerOptions {
  readonly allow?: boolean;
  readonly refuse?: string | true;
  readonly option?: string;
  readonly text?: string;
  readonly all?: boolean;
  readonly json?: boolean;
}

export function define(command: Command, context: CommandContext): void {
  command
    .usage('[options] [ID|SESSION]')
    .argument(
      '[which]',
      'what is answered: its id or a unique beginning of it, or the session that asks one thing',
    )
    .option('--allow', 'allow it, this once')
    .option('--refuse [message]', 'refuse it; the message is for the agent')
    .option('--option <id>', 'choose one of the options')
    .option('--text <text>', 'answer a question in words')
    .option('-a, --all', 'list also what is settled')
    .option('--json', 'print one JSON document')
    .action(async (which: string | undefined, options: AnswerOptions) => {
      const reply = readReply(options);
      if (reply === null) {
        const sessionId =
          which === undefined || /^[0-9a-f]{4,24}$/.test(which)
            ? undefined
            : (await context.resolveSession(which)).id;
        const { interactions } = await (
          await context.node()
        ).request('interaction.list', {
          includeSettled: options.all === true,
          ...(sessionId === undefined ? {} : { sessionId }),
        });
        const shown =
          sessionId === undefined && which !== undefined
            ? interactions.filter(startsWith(which))
            : interactions;
        if (options.json === true) context.printJson(shown);
        else if (shown.length === 0) context.note('nobody asks anything');
        else for (const interaction of shown) context.print(describe(context, interaction));
        return;
      }
      if (which === undefined) throw new UsageError('name what is answered; roost answer   lists it');
      const { id } = await find(context, which);
      const settled = await (
        await context.node()
      ).request('interaction.resolve', { interactionId: id, reply });
      if (options.json === true) context.printJson(settled);
      else context.print(settled.outcome ?? settled.state);
    });
}

function readReply({ allow, refuse, option, text }: AnswerOptions): InteractionReply | null {
  const replies: InteractionReply[] = [];
  if (allow === true) replies.push({ kind: 'allow' });
  if (refuse !== undefined) replies.push({ kind: 'refuse', message: refuse === true ? null : refuse });
  if (option !== undefined) replies.push({ kind: 'option', optionId: option });
  if (text !== undefined) replies.push({ kind: 'text', text });
  if (replies.length > 1) throw new UsageError('give one of --allow, --refuse, --option, --text');
  return replies[0] ?? null;
}

/** By its id; or what a session asks, when that is one thing. */
async function find(context: CommandContext, which: string): Promise<Interaction> {
  const interactions = await listAll(context);
  const matching = interactions.filter(startsWith(which));
  const [only] = matching;
  if (only !== undefined && matching.length === 1) return only;
  if (matching.length > 1) throw new UsageError(`more than one begins with ${which}`);
  const session = await context.resolveSession(which);
  // It may be at another node than the one that was asked first.
  const asked = (await listAll(context)).filter(
    (one) => one.session.sessionId === session.id && one.state === 'pending',
  );
  const [first] = asked;
  if (first === undefined) throw new FailureError('unknown-interaction', { session: session.name });
  if (asked.length > 1)
    throw new UsageError(
      `${session.name} asks ${asked.length} things: ${asked.map(({ id }) => id).join(' ')}`,
    );
  return first;
}

async function listAll(context: CommandContext): Promise<Interaction[]> {
  const connection = await context.node();
  return (await connection.request('interaction.list', { includeSettled: true })).interactions;
}

const startsWith = (which: string) => (interaction: Interaction) =>
  /^[0-9a-f]{4,24}$/.test(which) && interaction.id.startsWith(which);

function describe(context: CommandContext, interaction: Interaction): string {
  const { stdout, env } = context.terminal;
  const { strong, faint, warn } = paletteFor(stdout, env);
  const { id, sessionName, title, detail, options, state, outcome, askedAt, expiresAt } = interaction;
  const age = describeAge(Date.now() - Date.parse(askedAt));
  const how = state === 'pending' ? warn(`waits ${age}`) : faint(outcome ?? state);
  const until = state === 'pending' && expiresAt !== null ? faint(` until ${expiresAt}`) : '';
  return [
    `${strong(id)}  ${sessionName}  ${how}${until}`,
    `  ${printable(title)}`,
    ...(detail === '' ? [] : [indented(printableLines(detail))]),
    ...options.map(({ optionId, label }) => `  [${printable(optionId)}] ${printable(label)}`),
  ].join('\n');
}

const indented = (text: string): string => text.replace(/^/gm, '    ');

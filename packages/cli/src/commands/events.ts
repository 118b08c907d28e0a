/** `roost events`: the durable journal, as it stands or as it grows. */
import type { Command } from 'commander';
import type { EventCursor, NodeConnection } from '@roost/client';
import { EVENTS_PAGE_MAX, type NodeEvent } from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';
import { readInteger } from '../operands.ts';
import { describeWorkspaceGit } from '../workspace-view.ts';
import { printable } from '../printable.ts';
import { describeStatus } from '../session-status.ts';
import { interruption } from '../interruption.ts';

/** Events shown when no `--after` says where to begin. */
const LATEST_SHOWN = 100;

interface EventsOptions {
  readonly follow?: boolean;
  readonly after?: number;
  readonly json?: boolean;
}

export function define(command: Command, context: CommandContext): void {
  command
    .option('-f, --follow', 'go on with every new event, across restarts of the node')
    .option('--after <sequence>', 'only events after this one; below zero counts from the end', readInteger)
    .option('--json', 'print one JSON document; with --follow one a line')
    .action(async (options: EventsOptions) => {
      const connection = await context.node();
      const after = options.after ?? -LATEST_SHOWN;
      const kept: NodeEvent[] = [];
      const cursor = await readKept(connection, after, (event) => {
        if (options.json === true && options.follow !== true) kept.push(event);
        else show(context, event, options.json === true);
      });
      if (options.follow !== true) {
        if (options.json === true) context.printJson(kept);
        return;
      }
      const { followEvents } = await import('@roost/client');
      using stop = interruption();
      const connect = () => context.connectAnew();
      for await (const item of followEvents({ connect, after: cursor, signal: stop.signal })) {
        if ('kind' in item) {
          context.note(
            `the journal no longer has everything: it begins at ${item.floor}, and goes on here after ${item.last}`,
          );
        } else show(context, item, options.json === true);
      }
    });
}

/** Answers where to go on. */
async function readKept(
  connection: NodeConnection,
  after: number,
  take: (event: NodeEvent) => void,
): Promise<EventCursor> {
  let from = after;
  let incarnation: EventCursor['incarnation'];
  for (;;) {
    const page = await connection.request('events.read', { after: from, limit: EVENTS_PAGE_MAX });
    for (const event of page.events) take(event);
    const lastRead = page.events.at(-1);
    if (lastRead === undefined) return { sequence: from < 0 ? page.last : Math.max(from, 0), incarnation };
    from = lastRead.sequence;
    incarnation = lastRead.incarnation;
    if (from >= page.last) return { sequence: from, incarnation };
  }
}

function show(context: CommandContext, event: NodeEvent, json: boolean): void {
  if (json) context.print(JSON.stringify(event));
  else context.print(printable(`${String(event.sequence).padStart(6)}  ${event.at}  ${describe(event)}`));
}

function describe({ body }: NodeEvent): string {
  switch (body.kind) {
    case 'node-started':
      return `${body.kind}  ${body.incarnation} version ${body.version}`;
    case 'node-stopped':
      return `${body.kind}  ${body.incarnation}`;
    case 'workspace-registered':
      return `${body.kind}  ${body.workspace.id} ${body.workspace.root}`;
    case 'workspace-changed':
      return `${body.kind}  ${body.workspace.id} ${describeWorkspaceGit(body.workspace.git ?? null)}`;
    case 'workspace-unregistered':
      return `${body.kind}  ${body.workspaceId}`;
    case 'session-changed':
      return `${body.kind}  ${body.session.id} ${body.session.name} ${describeStatus(body.session)}`;
    case 'session-removed':
      return `${body.kind}  ${body.sessionId}`;
    case 'record-changed':
      return `${body.kind}  ${body.record.id} ${body.record.name} ${body.record.state}`;
    case 'record-removed':
      return `${body.kind}  ${body.recordId}`;
    case 'controller-changed':
      return `${body.kind}  ${body.reason} ${body.controller?.clientName ?? ''}`.trimEnd();
    case 'spawn-profiles-changed':
    case 'worktree-profiles-changed':
      return `${body.kind}  ${body.profiles.map((one) => one.id).join(' ')}`;
    case 'worktree-changed':
      return `${body.kind}  ${body.lease.id} ${body.lease.branch} ${body.lease.state}`;
    case 'interaction-changed':
      return `${body.kind}  ${body.interaction.id} ${body.interaction.interaction} ${body.interaction.tool ?? ''} ${body.interaction.state}`;
    case 'worktree-removed':
      return `${body.kind}  ${body.leaseId}`;
  }
}

/** `roost hub`: the hub of this machine, or the one that one is logged in at. */
import type { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { defineAccess } from './hub/access.ts';
import { defineAudit } from './hub/audit.ts';
import { defineService } from './hub/service.ts';

export function define(command: Command, context: CommandContext): void {
  defineService(command, context);
  defineAccess(command, context);
  defineAudit(command, context);
}

/** `roost worktree`: worktrees of a repository, each a workspace of its own. */
import type { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { defineAdd } from './worktree/add.ts';
import { defineLeases, defineProfiles, defineResolve } from './worktree/managed.ts';
import { defineLs } from './worktree/ls.ts';
import { defineRm } from './worktree/rm.ts';

export function define(command: Command, context: CommandContext): void {
  defineAdd(command, context);
  defineLs(command, context);
  defineRm(command, context);
  defineProfiles(command, context);
  defineLeases(command, context);
  defineResolve(command, context);
}

// Worktrees made and removed by hand, so that a crash between git and the database heals: what is begun is stored before git runs,
// and taken away in the transaction that tells how it ended. How it ended is read from what is there, never guessed; nothing is
// deleted that is not proven to be ours and clean.
import { FailureError, type Params, type Result, type Workspace } from '@roost/protocol';
import { processStart } from '@roost/keeper/processes';
import type { KeyedLocks } from '../control/keyed-locks.ts';
import { Deadline, OVER } from '../deadline.ts';
import type { FaultHook } from '../fault-points.ts';
import type { Log } from '@roost/storage';
import { listSessions, type SessionRow } from '../sessions/session-table.ts';
import type { Store, Transaction } from '../store/store.ts';
import { locate } from '../workspaces/locate.ts';
import {
  findWorkspace,
  findWorkspaceAt,
  registerWorkspace,
  requireRegistrable,
  unregisterWorkspace,
} from '../workspaces/workspaces.ts';
import { defaultTarget, makeDefaultParent } from './default-target.ts';
import type { GitWorktrees, WorktreeBranch, WorktreeEntry } from './git-worktrees.ts';
import { deleteIntent, findIntentAt, insertIntent, noteProcess, type IntentRow } from './intent-table.ts';
import { repositoryOf } from './repository-of.ts';
import type { Reservations } from './reservations.ts';
import type { ManagedClaims, ServiceModes } from './service-mode.ts';
import type { Settling } from './settling.ts';
import { worktreeView } from './worktree-view.ts';
import { canonicalTarget, guarded, isWithin, presence } from './worktree-target.ts';
import { repositoryLock } from './repository-lock.ts';

export interface ManualScene {
  readonly store: Store;
  readonly worktrees: GitWorktrees;
  readonly reservations: Reservations;
  /** One key a repository: two acts on one never overlap, others are not held up. */
  readonly repositories: KeyedLocks;
  readonly modes: ServiceModes;
  readonly claims: ManagedClaims;
  readonly settling: Settling;
  readonly faults: FaultHook;
  readonly log: Log;
}

/** Milliseconds of a removal: git's own bound. */
const REMOVE_MS = 180_000;
/** Sessions named in a refusal. */
const NAMES_MAX = 8;

export class ManualWorktrees {
  readonly #scene: ManualScene;

  constructor(scene: ManualScene) {
    this.#scene = scene;
  }

  /** @throws FailureError, see `worktree.create`. Nothing is left of a creation that was refused. */
  async create(asked: Params<'worktree.create'>): Promise<Result<'worktree.create'>> {
    const { store, modes, claims } = this.#scene;
    modes.requireManual(asked.sourceWorkspaceId);
    claims.requireUnclaimed({ workspaceId: asked.sourceWorkspaceId });
    claims.requireUnclaimed({ workspaceId: asked.workspaceId, root: asked.targetRoot });
    const source = this.#source(asked.sourceWorkspaceId);
    const deadline = Deadline.in(asked.deadlineMs);
    return this.#inRepository(source, { act: 'create', deadline }, async ({ common, main }) => {
      await this.#scene.worktrees.requireBranchName(main, asked.branch, deadline);
      const { target, takeParentAway } = await this.#target(main, asked);
      const give = this.#scene.reservations.take(target);
      try {
        await this.#requireSettled(target);
        this.#requireUnused(target);
        const stale = findWorkspaceAt(store.sql, target);
        // The workspace of a worktree that was deleted by hand goes on with the new one.
        const isSame = asked.workspaceId === undefined || asked.workspaceId === stale?.id;
        if (stale === null || !isSame) requireRegistrable(store.sql, target, asked.workspaceId);
        const { recoveryRefs, apartFrom } = await this.#giveWay(main, target, asked, deadline);
        const branch = await this.#branch(source, asked, deadline);
        const intent = store.transact(({ sql }) =>
          insertIntent(sql, {
            act: 'create',
            source_workspace_id: source.id,
            source_root: main,
            common_directory: common,
            target_root: target,
            workspace_id: asked.workspaceId ?? null,
            branch: asked.branch,
            head: 'create' in branch ? branch.commit : null,
          }),
        );
        const { entry, workspace } = await this.#make(intent, branch, { deadline, apartFrom });
        return { worktree: worktreeView(store.sql, entry, [], null), workspace, recoveryRefs };
      } catch (error) {
        await takeParentAway();
        throw error;
      } finally {
        give();
      }
    });
  }

  /** @throws FailureError, see `worktree.remove`. */
  async remove(asked: Params<'worktree.remove'>): Promise<Result<'worktree.remove'>> {
    const { store, worktrees, modes, claims } = this.#scene;
    modes.requireManual(asked.sourceWorkspaceId, 'remove');
    claims.requireUnclaimed({ workspaceId: asked.sourceWorkspaceId, root: asked.targetRoot });
    const source = this.#source(asked.sourceWorkspaceId);
    const deadline = Deadline.in(REMOVE_MS);
    return this.#inRepository(source, { act: 'remove', deadline }, async ({ common, main }) => {
      const target = (await canonicalTarget(asked.targetRoot)) ?? asked.targetRoot;
      claims.requireUnclaimed({ root: target });
      const give = this.#scene.reservations.take(target);
      try {
        await this.#requireSettled(target);
        const mayDiscard = () => asked.discardIgnored;
        const gone = await this.#goneEntry(main, target, deadline);
        // What protects it for good is told before what will pass.
        if (gone === null) await worktrees.identify(main, target, deadline);
        this.#requireUnused(target);
        const checked = gone ?? (await worktrees.requireClean(main, target, deadline, { mayDiscard }));
        const recoveryRefs = await worktrees.keepCommits(main, checked, deadline);
        await this.#scene.faults('worktree-remove:kept');
        const workspace = findWorkspaceAt(store.sql, target);
        const intent = store.transact(({ sql }) =>
          insertIntent(sql, {
            act: 'remove',
            source_workspace_id: source.id,
            source_root: main,
            common_directory: common,
            target_root: target,
            workspace_id: workspace?.id ?? null,
            branch: checked.branch,
            head: checked.head,
          }),
        );
        await this.#scene.faults('worktree-remove:intended');
        try {
          const started = this.#noting(intent);
          if (gone !== null) await worktrees.forget(main, target, deadline);
          else
            await worktrees.remove(main, target, deadline, {
              mayDiscard,
              head: checked.head,
              started,
            });
        } catch (error) {
          await this.#scene.settling.settle(intent, 'undo');
          throw error;
        }
        await this.#scene.faults('worktree-remove:removed');
        store.transact((transaction) => {
          deleteIntent(transaction.sql, intent.id);
          forgetWorkspaceAt(transaction, target);
        });
        return { targetRoot: asked.targetRoot, workspaceId: workspace?.id ?? null, recoveryRefs };
      } finally {
        give();
      }
    });
  }

  async #make(
    intent: IntentRow,
    branch: WorktreeBranch,
    { deadline, apartFrom }: { readonly deadline: Deadline; readonly apartFrom: readonly string[] },
  ): Promise<{ entry: WorktreeEntry; workspace: Workspace }> {
    const { store, worktrees, settling, faults } = this.#scene;
    await faults('worktree-create:intended');
    try {
      const entry = await worktrees.add(intent.source_root, intent.target_root, branch, deadline, {
        started: this.#noting(intent),
        apartFrom,
      });
      await faults('worktree-create:added');
      const location = await locate(entry.path);
      if (location?.directory !== entry.path) throw guarded('replaced', entry.path);
      const workspace = store.transact((transaction) => {
        deleteIntent(transaction.sql, intent.id);
        const there = findWorkspaceAt(transaction.sql, entry.path);
        return there ?? registerWorkspace(transaction, location, intent.workspace_id ?? undefined);
      });
      return { entry, workspace };
    } catch (error) {
      await settling.settle(intent, 'undo');
      throw this.#afterUndo(intent, error);
    }
  }

  /** What went wrong, when nothing of it is left; before, it was told that something is. */
  #afterUndo({ target_root: target, branch }: IntentRow, error: unknown): unknown {
    const isHalfway = error instanceof FailureError && error.failure.code === 'worktree-recovery-required';
    if (!isHalfway || findIntentAt(this.#scene.store.sql, target) !== null) return error;
    const { cause } = error;
    const code = cause instanceof FailureError ? cause.failure.code : 'git-failed';
    return new FailureError(code, { ...(branch === null ? {} : { branch }), undone: true }, { cause: error });
  }

  #source(workspaceId: string): Workspace {
    const workspace = findWorkspace(this.#scene.store.sql, workspaceId);
    if (workspace === null) throw new FailureError('unknown-workspace', { workspaceId });
    return workspace;
  }

  /**
   * Runs the act alone in its repository. `main` is the main checkout (or the bare repository): git is asked there, because any
   * other worktree may go; its workspace's mode counts for all of them.
   */
  async #inRepository<T>(
    source: Workspace,
    { act, deadline }: { readonly act: 'create' | 'remove'; readonly deadline: Deadline },
    work: (repository: { readonly common: string; readonly main: string }) => Promise<T>,
  ): Promise<T> {
    const { store, worktrees, repositories, modes } = this.#scene;
    const common = await repositoryOf(worktrees, source, deadline);
    const acquiring = repositories.acquire([repositoryLock(common)]);
    const release = await deadline.race(acquiring);
    if (release === OVER) {
      void acquiring.then((giveBack) => giveBack());
      throw new FailureError('worktree-changing', { workspaceId: source.id });
    }
    try {
      // Whoever was before us may have removed the worktree through which we were asked.
      const isThere = (await presence(source.root)) === 'directory';
      const main = (await worktrees.list(isThere ? source.root : common, deadline))[0]?.path;
      if (main === undefined) throw new FailureError('not-git-repository');
      const above = findWorkspaceAt(store.sql, main);
      if (above !== null) modes.requireManual(above.id, act);
      return await work({ common, main });
    } finally {
      release();
    }
  }

  async #target(
    main: string,
    { targetRoot, branch }: Params<'worktree.create'>,
  ): Promise<{ target: string; takeParentAway: () => Promise<void> }> {
    const target = targetRoot ?? defaultTarget(main, branch);
    const takeParentAway =
      targetRoot === undefined ? await makeDefaultParent(target) : () => Promise.resolve();
    const path = await canonicalTarget(target);
    if (path === null) throw new FailureError('worktree-conflict', { path: target, why: 'no-parent' });
    this.#scene.claims.requireUnclaimed({ root: path });
    return { target: path, takeParentAway };
  }

  async #branch(
    source: Workspace,
    { branch, base, adopt }: Params<'worktree.create'>,
    deadline: Deadline,
  ): Promise<WorktreeBranch> {
    if (adopt) return { adopt: branch };
    return {
      create: branch,
      commit: await this.#scene.worktrees.resolveCommit(source.root, base ?? 'HEAD', deadline),
    };
  }

  /**
   * A worktree that was deleted by hand is still listed: at the target, or holding the branch that is to be adopted. Exactly that
   * entry gives way, its commits kept first. One elsewhere gives way only when the directory above it is there: a disk that is not
   * mounted looks the same otherwise.
   */
  async #giveWay(
    main: string,
    target: string,
    { branch, adopt }: Params<'worktree.create'>,
    deadline: Deadline,
  ): Promise<{ recoveryRefs: string[]; apartFrom: string[] }> {
    const { worktrees } = this.#scene;
    const recoveryRefs: string[] = [];
    const apartFrom: string[] = [];
    for (const entry of await worktrees.list(main, deadline)) {
      const stands = entry.path === target || (adopt && entry.branch === branch);
      if (entry.isMain || !stands || (await presence(entry.path)) !== 'absent') continue;
      if ((await canonicalTarget(entry.path)) !== entry.path) continue;
      if (await worktrees.keepsSubmodules(main, entry.path, deadline)) continue;
      recoveryRefs.push(...(await worktrees.keepCommits(main, entry, deadline)));
      const directory = await worktrees.forget(main, entry.path, deadline);
      if (directory !== null) apartFrom.push(directory);
    }
    return { recoveryRefs, apartFrom };
  }

  /** The entry of a worktree whose directory was deleted by hand; null when it is there, or git knows of none. */
  async #goneEntry(main: string, target: string, deadline: Deadline): Promise<WorktreeEntry | null> {
    const all = await this.#scene.worktrees.list(main, deadline);
    const entry = all.find(({ path }) => path === target);
    if (entry === undefined || entry.isMain || entry.isBare) return null;
    if (entry.locked !== null || (await presence(target)) !== 'absent') return null;
    return entry;
  }

  /** What was left there is looked at anew: somebody may have put it right. @throws FailureError: worktree-recovery-required. */
  async #requireSettled(target: string): Promise<void> {
    const { store, settling } = this.#scene;
    const intent = findIntentAt(store.sql, target);
    if (intent === null) return;
    await settling.settle(intent, 'finish');
    if (findIntentAt(store.sql, target) === null) return;
    throw new FailureError('worktree-recovery-required', { path: target });
  }

  /** @throws FailureError: worktree-in-use. */
  #requireUnused(target: string): void {
    const living = sessionsIn(this.#scene.store, target);
    if (living.length === 0) return;
    const names = living.slice(0, NAMES_MAX).map(({ name }) => name);
    throw new FailureError('worktree-in-use', { path: target, sessions: living.length, names });
  }

  #noting(intent: IntentRow): (pid: number) => void {
    return (pid) => noteProcess(this.#scene.store.sql, intent.id, pid, processStart(pid));
  }
}

function sessionsIn({ sql }: Pick<Store, 'sql'>, directory: string): SessionRow[] {
  return listSessions(sql, false, -1).filter((row) => isWithin(row.directory, directory));
}

/** The workspace of exactly that directory, when there is one. */
export function forgetWorkspaceAt(transaction: Transaction, root: string): void {
  const workspace = findWorkspaceAt(transaction.sql, root);
  if (workspace !== null) unregisterWorkspace(transaction, workspace.id);
}

/** The commits of a workspace, newest first, each with what it changed. */
import { useState } from 'react';
import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { GitCommit } from '@roost/protocol';
import { useHub } from '../hub/hub-context.tsx';
import { nodeKey, useNodeQuery } from '../hub/queries.ts';
import { Ago } from '../parts/ago.tsx';
import { FailureAlert } from '../parts/failure-alert.tsx';
import { Empty, LoadingRows } from '../parts/page.tsx';
import { DiffView } from './diff-view.tsx';
import type { Place } from './workspace-page.tsx';
import styles from './workspace.module.css';

/** Commits of one page. */
const COMMITS_AT_ONCE = 50;

export default function GitHistory({ place }: { readonly place: Place }) {
  const { nodeId, workspaceId } = place;
  const { api } = useHub();
  const [open, setOpen] = useState<string | null>(null);
  const history = useInfiniteQuery({
    queryKey: nodeKey(nodeId, 'git.history', { workspaceId }),
    queryFn: ({ pageParam, signal }) =>
      api.node(
        nodeId,
        'git.history',
        { workspaceId, limit: COMMITS_AT_ONCE, ...(pageParam === null ? {} : { cursor: pageParam }) },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  });
  if (history.data === undefined) {
    return history.error === null ? (
      <LoadingRows />
    ) : (
      <FailureAlert
        error={history.error}
        title="The history could not be read"
        onRetry={() => void history.refetch()}
      />
    );
  }
  const commits = history.data.pages.flatMap((page) => page.commits);
  if (commits.length === 0) return <Empty title="Nothing was committed yet" />;
  return (
    <>
      <div className={styles.entries}>
        {commits.map((commit) => (
          <Commit
            key={commit.id}
            place={place}
            commit={commit}
            isOpen={open === commit.id}
            onToggle={() => setOpen(open === commit.id ? null : commit.id)}
          />
        ))}
      </div>
      {history.hasNextPage && (
        <Button
          variant="default"
          loading={history.isFetchingNextPage}
          onClick={() => void history.fetchNextPage()}
        >
          Older commits
        </Button>
      )}
    </>
  );
}

function Commit({
  place,
  commit,
  isOpen,
  onToggle,
}: {
  readonly place: Place;
  readonly commit: GitCommit;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}) {
  return (
    <>
      <button type="button" className={styles.commit} aria-expanded={isOpen} onClick={onToggle}>
        <span className="roost-mono">{commit.id.slice(0, 8)}</span>
        <span className={styles.subject}>{commit.subject}</span>
        <span className={styles.who}>{commit.author.name}</span>
        {commit.authoredAt !== null && <Ago since={commit.authoredAt} />}
      </button>
      {isOpen && (
        <div className={styles.commitDiff}>
          <CommitDiff place={place} commit={commit.id} />
        </div>
      )}
    </>
  );
}

function CommitDiff({
  place: { nodeId, workspaceId },
  commit,
}: {
  readonly place: Place;
  readonly commit: string;
}) {
  const diff = useNodeQuery(
    nodeId,
    'git.diff',
    { workspaceId, what: { kind: 'commit', commit } },
    // A commit stays what it is.
    { staleTime: Infinity },
  );
  if (diff.data !== undefined) return <DiffView diff={diff.data} />;
  if (diff.error !== null)
    return (
      <FailureAlert
        error={diff.error}
        title="What it changed could not be read"
        onRetry={() => void diff.refetch()}
      />
    );
  return <LoadingRows rows={2} />;
}

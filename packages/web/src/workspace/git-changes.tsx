/** What is not committed: by git's word, and line by line. */
import { useState } from 'react';
import { Button, SegmentedControl } from '@mantine/core';
import type { GitRepositoryStatus, GitStatusEntry, GitUnknownReason } from '@roost/protocol';
import { useMay } from '../hub/hub-context.tsx';
import { useNodeQuery } from '../hub/queries.ts';
import { FailureAlert } from '../parts/failure-alert.tsx';
import { Empty, LoadingRows } from '../parts/page.tsx';
import { DiffView } from './diff-view.tsx';
import type { Place } from './workspace-page.tsx';
import styles from './workspace.module.css';

/** Milliseconds between two looks while the page is open. */
const LOOK_MS = 10_000;

const UNKNOWN: Readonly<Record<GitUnknownReason, string>> = {
  'git-not-installed': 'The machine has no git.',
  'git-timed-out': 'Git did not answer in time.',
  'git-failed': 'Git could not tell.',
  'git-ownership-refused': 'Git refuses the repository because it belongs to another user.',
};

export default function GitChanges({ place: { nodeId, workspaceId } }: { readonly place: Place }) {
  const mayRead = useMay('operator');
  const asked = useNodeQuery(nodeId, 'git.status', { workspaceId }, { refetchInterval: LOOK_MS });
  if (asked.data === undefined) {
    return asked.error === null ? (
      <LoadingRows />
    ) : (
      <FailureAlert error={asked.error} title="Git could not be asked" onRetry={() => void asked.refetch()} />
    );
  }
  const { status } = asked.data;
  if (status.kind === 'not-a-repository') return <Empty title="It is in no git repository" />;
  if (status.kind === 'unknown') return <Empty title="Git could not tell">{UNKNOWN[status.reason]}</Empty>;
  return (
    <>
      <div className={styles.head}>{headText(status)}</div>
      {status.entries.length === 0 ? (
        <Empty title="Everything is committed" />
      ) : (
        <ul className={styles.entries}>
          {status.entries.map((entry) => (
            <li key={entry.path} className={styles.entry}>
              <span>{entryText(entry)}</span>
              <span className="roost-mono">
                {entry.previousPath !== null && `${entry.previousPath} → `}
                {entry.path}
                {entry.isDirectory && '/'}
              </span>
            </li>
          ))}
        </ul>
      )}
      {status.entriesCut && <div className={styles.cut}>There are more entries than these.</div>}
      {mayRead && status.entries.length > 0 && <Differences place={{ nodeId, workspaceId }} />}
    </>
  );
}

function Differences({ place: { nodeId, workspaceId } }: { readonly place: Place }) {
  const [what, setWhat] = useState<'working' | 'staged'>('working');
  const diff = useNodeQuery(nodeId, 'git.diff', { workspaceId, what: { kind: what } });
  return (
    <>
      <SegmentedControl
        size="xs"
        aria-label="Which changes"
        w="fit-content"
        value={what}
        onChange={setWhat}
        data={[
          { value: 'working', label: 'Not staged' },
          { value: 'staged', label: 'Staged' },
        ]}
      />
      {diff.data !== undefined ? (
        <DiffView
          diff={diff.data}
          tools={
            <Button size="xs" variant="default" loading={diff.isFetching} onClick={() => void diff.refetch()}>
              Read again
            </Button>
          }
        />
      ) : diff.error === null ? (
        <LoadingRows />
      ) : (
        <FailureAlert
          error={diff.error}
          title="The changes could not be read"
          onRetry={() => void diff.refetch()}
        />
      )}
    </>
  );
}

function headText({ branch, commit, upstream, operation }: GitRepositoryStatus): string {
  const place = branch ?? `detached at ${commit?.slice(0, 10) ?? 'nothing'}`;
  const beside =
    upstream === null
      ? ''
      : upstream.ahead === null || upstream.behind === null
        ? `, ${upstream.branch} is gone`
        : `, ${upstream.ahead} ahead of and ${upstream.behind} behind ${upstream.branch}`;
  return `On ${place}${beside}${operation === null ? '' : `, in the middle of a ${operation}`}`;
}

function entryText({ index, worktree, conflict }: GitStatusEntry): string {
  if (conflict !== null) return conflict.replaceAll('-', ' ');
  if (worktree === 'untracked') return 'untracked';
  if (index === 'unmodified') return worktree;
  return worktree === 'unmodified' ? `${index}, staged` : `${index}, staged in part`;
}

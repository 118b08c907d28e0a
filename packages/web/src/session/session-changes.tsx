/** What changed in the working tree of a session since it was started. */
import { Button } from '@mantine/core';
import type { SeenSession } from '@roost/client/browser';
import { useNodeQuery } from '../hub/queries.ts';
import { FailureAlert } from '../parts/failure-alert.tsx';
import { Empty, LoadingRows } from '../parts/page.tsx';
import { DiffView } from '../workspace/diff-view.tsx';

export default function SessionChanges({ session }: { readonly session: SeenSession }) {
  const diff = useNodeQuery(session.nodeId, 'session.diff', { sessionId: session.id });
  if (
    diff.error?.failure.code === 'session-base-unknown' ||
    diff.error?.failure.code === 'not-git-repository'
  )
    return <Empty title="There is nothing to compare with">{diff.error.failure.message}</Empty>;
  if (diff.data === undefined && diff.error !== null)
    return (
      <FailureAlert
        error={diff.error}
        title="The changes could not be read"
        onRetry={() => void diff.refetch()}
      />
    );
  if (diff.data === undefined) return <LoadingRows />;
  return (
    <DiffView
      diff={diff.data}
      note={`since ${diff.data.base.slice(0, 10)}`}
      tools={
        <Button size="xs" variant="default" loading={diff.isFetching} onClick={() => void diff.refetch()}>
          Read again
        </Button>
      }
    />
  );
}

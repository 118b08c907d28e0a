/** Starts a session: where, with what, and what came of it. */
import { useState } from 'react';
import { Modal, Select, Stack } from '@mantine/core';
import { NodeId } from '@roost/protocol';
import { useView } from '../hub/hub-context.tsx';
import { useNodeQuery } from '../hub/queries.ts';
import { FailureAlert } from '../parts/failure-alert.tsx';
import { Empty, LoadingRows } from '../parts/page.tsx';
import type { LaunchPreset } from '../shell/launch-context.ts';
import { LaunchForm } from './launch-form.tsx';

export function LaunchDialog({
  preset,
  onClose,
}: {
  readonly preset: LaunchPreset;
  readonly onClose: () => void;
}) {
  const view = useView();
  const nodes = [...(view?.nodes.values() ?? [])].toSorted((a, b) => a.name.localeCompare(b.name));
  const [chosen, setChosen] = useState<NodeId | null>(preset.nodeId ?? null);
  const [isStarted, setStarted] = useState(false);
  const nodeId = chosen ?? nodes.find(({ link }) => link.state === 'online')?.id ?? null;
  return (
    <Modal opened onClose={onClose} title="New session" size="lg">
      <Stack gap="sm">
        {nodes.length === 0 ? (
          <Empty title="No machine belongs to this hub yet" />
        ) : isStarted ? null : (
          <Select
            label="Machine"
            data={nodes.map(({ id, name, link }) => ({
              value: id,
              label: link.state === 'online' ? name : `${name} (${link.state})`,
              disabled: link.state !== 'online',
            }))}
            value={nodeId}
            allowDeselect={false}
            onChange={(next) => setChosen(NodeId.safeParse(next).data ?? null)}
          />
        )}
        {nodeId !== null && (
          <OnNode
            key={nodeId}
            nodeId={nodeId}
            preset={preset}
            onStarted={() => setStarted(true)}
            onClose={onClose}
          />
        )}
      </Stack>
    </Modal>
  );
}

/** As it is when the dialog opens: what is chosen from it does not change under one's hands. */
const READ_ONCE = { staleTime: Infinity, gcTime: 0 };

function OnNode({
  nodeId,
  preset,
  onStarted,
  onClose,
}: {
  readonly nodeId: NodeId;
  readonly preset: LaunchPreset;
  readonly onStarted: () => void;
  readonly onClose: () => void;
}) {
  const snapshot = useNodeQuery(nodeId, 'node.snapshot', {}, READ_ONCE);
  if (snapshot.data === undefined) {
    return snapshot.error === null ? (
      <LoadingRows rows={3} />
    ) : (
      <FailureAlert
        error={snapshot.error}
        title="What can be started there could not be read"
        onRetry={() => void snapshot.refetch()}
      />
    );
  }
  if (snapshot.data.workspaces.length === 0) {
    return (
      <Empty title="That machine has no workspace yet">
        <div>
          Register one there: <code>roost workspace add PATH</code>
        </div>
      </Empty>
    );
  }
  return <LaunchForm {...{ snapshot: snapshot.data, preset, onStarted, onClose }} />;
}

/** Worktrees of every node: what managed ones are for, and what stands in the way of those that should go. */
import { useState } from 'react';
import { Button, Group, Modal, Select, Stack, Table, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import {
  FAILURE_SENTENCES,
  NodeId,
  type HubNode,
  type LeaseChoice,
  type LeaseState,
  type WorktreeLease,
} from '@roost/protocol';
import { useHub, useMay, useView } from '../hub/hub-context.tsx';
import { nodeKey, useAct, useNodeQuery } from '../hub/queries.ts';
import { Ago } from '../parts/ago.tsx';
import { ConfirmButton } from '../parts/confirm.tsx';
import { FailureAlert } from '../parts/failure-alert.tsx';
import { Empty, LoadingRows, Page } from '../parts/page.tsx';
import { isLive, type Tone } from '../parts/session-words.ts';
import { Status } from '../parts/status.tsx';
import { workspacePath } from '../shell/pages.ts';
import { AllocateButton } from './allocate.tsx';
import { WorktreesByHand } from './by-hand.tsx';
import { SessionLinks, WorktreeTable } from './worktree-table.tsx';

/** Milliseconds between two looks while the page is open. */
const LOOK_MS = 10_000;

const STATES: Readonly<Record<LeaseState, { readonly label: string; readonly tone: Tone }>> = {
  allocating: { label: 'being made', tone: 'busy' },
  ready: { label: 'ready', tone: 'ok' },
  'in-use': { label: 'in use', tone: 'busy' },
  retained: { label: 'kept', tone: 'quiet' },
  'cleanup-blocked': { label: 'cannot be removed', tone: 'wait' },
  'recovery-required': { label: 'needs a decision', tone: 'bad' },
  removed: { label: 'removed', tone: 'quiet' },
};

const CHOICES: Readonly<Record<LeaseChoice, string>> = {
  keep: 'Keep it as an ordinary worktree',
  'retry-cleanup': 'Try to remove it again',
  forget: 'Forget the entry: nothing of it is left',
  'adopt-as-ready': 'Take it as ready',
};

export function WorktreesPage() {
  const view = useView();
  const [chosen, setChosen] = useState<NodeId | null>(null);
  const all = [...(view?.nodes.values() ?? [])].toSorted((a, b) => a.name.localeCompare(b.name));
  const nodes = all.filter(({ id }) => chosen === null || id === chosen);
  return (
    <Page
      title="Worktrees"
      tools={
        <Select
          aria-label="Node"
          placeholder="Every node"
          clearable
          size="xs"
          data={all.map(({ id, name }) => ({ value: id, label: name }))}
          value={chosen}
          onChange={(next) => setChosen(NodeId.safeParse(next).data ?? null)}
        />
      }
    >
      {view === null && <LoadingRows />}
      {view !== null && nodes.length === 0 && <Empty title="No machine belongs to this hub yet" />}
      {nodes.map((node) => (
        <NodeWorktrees key={node.id} node={node} />
      ))}
    </Page>
  );
}

function NodeWorktrees({ node }: { readonly node: HubNode }) {
  const isOnline = node.link.state === 'online';
  const mayAct = useMay('operator');
  const leases = useNodeQuery(
    node.id,
    'worktree.leases',
    {},
    { enabled: isOnline, refetchInterval: LOOK_MS },
  );
  return (
    <Stack gap="xs" component="section" aria-label={`Worktrees on ${node.name}`}>
      <Group justify="space-between">
        <Text component="h2" fw={600} size="sm">
          {node.name}
        </Text>
        {mayAct && isOnline && <AllocateButton nodeId={node.id} />}
      </Group>
      {!isOnline && leases.data === undefined && (
        <Text size="sm" c="dimmed">
          It is {node.link.state}; its worktrees are shown once it is back.
        </Text>
      )}
      {leases.error !== null && (
        <FailureAlert
          error={leases.error}
          title={leases.data === undefined ? 'The worktrees could not be listed' : 'This list is not kept up'}
          onRetry={() => void leases.refetch()}
        />
      )}
      {leases.data?.leases.length === 0 && (
        <Text size="sm" c="dimmed">
          No managed worktrees
        </Text>
      )}
      {leases.data === undefined && isOnline && leases.error === null && <LoadingRows rows={2} />}
      {leases.data !== undefined && leases.data.leases.length > 0 && (
        <LeaseTable node={node} leases={leases.data.leases} />
      )}
      {leases.data !== undefined && isOnline && <WorktreesByHand node={node} leases={leases.data.leases} />}
    </Stack>
  );
}

function LeaseTable({ node, leases }: { readonly node: HubNode; readonly leases: readonly WorktreeLease[] }) {
  return (
    <WorktreeTable label={`Worktrees on ${node.name}`} first="Branch" last="Changed">
      {leases.map((lease) => (
        <LeaseRow key={lease.id} node={node} lease={lease} />
      ))}
    </WorktreeTable>
  );
}

function LeaseRow({ node, lease }: { readonly node: HubNode; readonly lease: WorktreeLease }) {
  const { label, tone } = STATES[lease.state];
  return (
    <Table.Tr>
      <Table.Td>
        <Link href={workspacePath(node.id, lease.workspaceId)}>{lease.branch}</Link>
        <div className="roost-mono">{lease.id}</div>
        {lease.ports !== null && (
          <div className="roost-mono">
            ports {lease.ports.base}–{lease.ports.base + lease.ports.count - 1}
          </div>
        )}
      </Table.Td>
      <Table.Td>
        <Status text={label} tone={tone} />
        {lease.failure !== null && (
          <Text size="xs" c="dimmed">
            {FAILURE_SENTENCES[lease.failure]}
          </Text>
        )}
      </Table.Td>
      <Table.Td>{lease.sourceWorkspaceId}</Table.Td>
      <Table.Td>
        <Holders node={node} lease={lease} />
      </Table.Td>
      <Table.Td>
        <Ago since={lease.updatedAt} />
      </Table.Td>
      <Table.Td>
        <LeaseActions node={node} lease={lease} />
      </Table.Td>
    </Table.Tr>
  );
}

function Holders({ node, lease }: { readonly node: HubNode; readonly lease: WorktreeLease }) {
  const sessions = [...(useView()?.sessions.values() ?? [])].filter(
    (one) => one.nodeId === node.id && one.workspaceId === lease.workspaceId && isLive(one),
  );
  const { records } = lease.holders;
  if (sessions.length === 0 && records === 0) return 'nobody';
  return (
    <>
      <SessionLinks sessions={sessions} />
      {sessions.length > 0 && records > 0 && ', '}
      {records > 0 && `${records} ${records === 1 ? 'record' : 'records'}`}
    </>
  );
}

function LeaseActions({ node, lease }: { readonly node: HubNode; readonly lease: WorktreeLease }) {
  const { api } = useHub();
  const queries = useQueryClient();
  const mayAct = useMay('operator');
  const [isDeciding, setDeciding] = useState(false);
  if (!mayAct) return null;
  const lookAgain = (): void =>
    void queries.invalidateQueries({ queryKey: nodeKey(node.id, 'worktree.leases') });
  return (
    <Group gap={6} justify="flex-end" wrap="nowrap">
      {(lease.state === 'ready' || lease.state === 'retained') && (
        <ConfirmButton
          label="Clean up"
          title={`Remove the worktree of ${lease.branch}?`}
          act={() => api.node(node.id, 'worktree.cleanup', { leaseId: lease.id })}
          onDone={lookAgain}
        >
          It is removed unless something in it would be lost. Commits that nothing else reaches get a recovery
          ref.
        </ConfirmButton>
      )}
      {(lease.state === 'cleanup-blocked' || lease.state === 'recovery-required') && (
        <Button size="xs" variant="light" color="orange" onClick={() => setDeciding(true)}>
          Decide
        </Button>
      )}
      {isDeciding && (
        <DecideDialog node={node} lease={lease} onClose={() => setDeciding(false)} onDone={lookAgain} />
      )}
    </Group>
  );
}

function DecideDialog({
  node,
  lease,
  onClose,
  onDone,
}: {
  readonly node: HubNode;
  readonly lease: WorktreeLease;
  readonly onClose: () => void;
  readonly onDone: () => void;
}) {
  const { api } = useHub();
  const evidence = useNodeQuery(node.id, 'worktree.evidence', { leaseId: lease.id }, { staleTime: 0 });
  const deciding = useAct(
    (choice: LeaseChoice) => api.node(node.id, 'worktree.resolve', { leaseId: lease.id, choice }),
    () => {
      onDone();
      onClose();
    },
  );
  return (
    <Modal opened onClose={onClose} title={lease.branch} size="lg">
      <Stack gap="sm">
        {lease.failure !== null && <Text size="sm">{FAILURE_SENTENCES[lease.failure]}</Text>}
        {evidence.error !== null && (
          <FailureAlert
            error={evidence.error}
            title="What is known of it could not be read"
            onRetry={() => void evidence.refetch()}
          />
        )}
        {evidence.data === undefined && evidence.error === null && <LoadingRows rows={2} />}
        {evidence.data !== undefined && (
          <>
            <Table withRowBorders={false} verticalSpacing={2}>
              <Table.Tbody>
                {(
                  [
                    ['Where', evidence.data.target],
                    ['Directory', evidence.data.directory],
                    ['Git', evidence.data.git.kind],
                    ['Nothing uncommitted', evidence.data.clean],
                    ['Taken together', evidence.data.verdict],
                  ] as const
                ).map(([label, value]) => (
                  <Table.Tr key={label}>
                    <Table.Th scope="row">{label}</Table.Th>
                    <Table.Td className="roost-mono">{value}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
            {evidence.data.choices.length === 0 && (
              <Text size="sm">
                Nothing can be decided as it is now: see to it on the machine, then look again.
              </Text>
            )}
            {evidence.data.choices.map((choice) => (
              <Button
                key={choice}
                variant="default"
                loading={deciding.isPending}
                onClick={() => deciding.mutate(choice)}
              >
                {CHOICES[choice]}
              </Button>
            ))}
          </>
        )}
        {deciding.error !== null && <FailureAlert error={deciding.error} title="That was not done" />}
      </Stack>
    </Modal>
  );
}

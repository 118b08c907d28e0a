/** The nodes of the hub: whether it has a line to each, and what they carry. */
import { useState } from 'react';
import { ActionIcon, Button, Group, Menu, Modal, Stack, Text, TextInput } from '@mantine/core';
import { Link } from 'wouter';
import type { HubView } from '@roost/client/browser';
import { NodeName, type HubNode, type NodeStatus } from '@roost/protocol';
import { useHub, useMay, useMirror } from '../hub/hub-context.tsx';
import { useAct, useHubQuery, useNodeQuery } from '../hub/queries.ts';
import { Ago, Lasting } from '../parts/ago.tsx';
import { ConfirmDialog } from '../parts/confirm.tsx';
import { FailureAlert } from '../parts/failure-alert.tsx';
import { MoreIcon } from '../parts/icons.tsx';
import { Empty, LoadingRows, Page } from '../parts/page.tsx';
import { LinkWord } from '../parts/status.tsx';
import { bytesText } from '../parts/quantities.ts';
import { useOpenLaunch } from '../shell/launch-context.ts';
import { workspacePath } from '../shell/pages.ts';
import { WorkspaceName } from '../worktrees/workspace-name.tsx';
import { linkReasonText } from './link-words.ts';
import styles from './fleet.module.css';

/** Milliseconds between two looks at what a node and the hub take of their machines. */
const LOAD_MS = 15_000;

export function FleetPage() {
  const { view } = useMirror();
  const mayInvite = useMay('admin');
  return (
    <Page
      title="Fleet"
      tools={
        mayInvite && (
          <Button component={Link} href="/settings" variant="default" size="xs">
            Invite a machine
          </Button>
        )
      }
    >
      <HubSummary />
      {view === null ? <LoadingRows height={140} /> : <Nodes view={view} />}
    </Page>
  );
}

function HubSummary() {
  const status = useHubQuery('hub.status', {}, { refetchInterval: LOAD_MS });
  if (status.data === undefined) return <div className={styles.summary}>&nbsp;</div>;
  const { version, startedAt, nodes, sessions, clients, residentBytes } = status.data;
  return (
    <div className={styles.summary}>
      Hub {version}, up <Lasting since={startedAt} />: {nodes.online} of {nodes.enrolled} machines online,{' '}
      {sessions.live} live sessions, {clients} {clients === 1 ? 'client' : 'clients'},{' '}
      {bytesText(residentBytes)} of memory
    </div>
  );
}

function Nodes({ view }: { readonly view: HubView }) {
  const nodes = [...view.nodes.values()].toSorted((a, b) => a.name.localeCompare(b.name));
  if (nodes.length === 0) {
    return (
      <Empty title="No machine belongs to this hub yet">
        <div>
          Make an invitation in the settings, then run <code>roost node join</code> on the machine.
        </div>
      </Empty>
    );
  }
  return (
    <div className={styles.nodes}>
      {nodes.map((node) => (
        <NodeCard key={node.id} node={node} view={view} />
      ))}
    </div>
  );
}

function NodeCard({ node, view }: { readonly node: HubNode; readonly view: HubView }) {
  const isOnline = node.link.state === 'online';
  const status = useNodeQuery(node.id, 'node.status', {}, { enabled: isOnline, refetchInterval: LOAD_MS });
  const now = isOnline ? status.data : undefined;
  const machine = now?.machine;
  const workspaces = [...view.workspaces.values()].filter(({ nodeId }) => nodeId === node.id);
  const reason = linkReasonText(node);
  return (
    <article className={styles.node}>
      <div className={styles.head}>
        <h2 className={styles.name}>{node.name}</h2>
        <LinkWord state={node.link.state} />
        <span className={styles.menu}>
          <NodeMenu node={node} />
        </span>
      </div>
      <div className={styles.why}>
        {reason !== null && `${reason}; `}
        {node.link.state} <Lasting since={node.link.since} />
        {!isOnline && node.seenAt !== null && (
          <>
            ; shown as it was <Ago since={node.seenAt} />
          </>
        )}
      </div>
      <dl className={styles.numbers}>
        <Fact label="live" value={String(node.sessions.live)} />
        <Fact label="waiting" value={String(node.sessions.blocked)} />
        <Fact label="load" value={machine === undefined ? '–' : loadText(machine)} />
        <Fact label="memory" value={now === undefined ? '–' : bytesText(memoryOf(now))} />
        <Fact label="version" value={node.version ?? '–'} />
      </dl>
      {workspaces.length > 0 && (
        <div className={styles.workspaces}>
          {workspaces.map((workspace) => (
            <Link key={workspace.id} href={workspacePath(node.id, workspace.id)} className={styles.workspace}>
              <WorkspaceName nodeId={node.id} workspaceId={workspace.id} />
              {workspace.git !== null && workspace.git.changed + workspace.git.untracked > 0 && (
                <span title={`${workspace.git.changed} changed, ${workspace.git.untracked} untracked`}>
                  ±{workspace.git.changed + workspace.git.untracked}
                </span>
              )}
            </Link>
          ))}
        </div>
      )}
    </article>
  );
}

function memoryOf(status: { residentBytes: number; keepers: readonly { residentBytes: number }[] }): number {
  return status.keepers.reduce((sum, keeper) => sum + keeper.residentBytes, status.residentBytes);
}

/** Whether a machine is busy shows beside how many processors it has. */
function loadText({ loadAverage, processors }: NonNullable<NodeStatus['machine']>): string {
  return `${loadAverage.toFixed(1)} of ${processors}`;
}

function Fact({ label, value }: { readonly label: string; readonly value: string }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd className="roost-numbers">{value}</dd>
    </div>
  );
}

function NodeMenu({ node }: { readonly node: HubNode }) {
  const openLaunch = useOpenLaunch();
  const mayLaunch = useMay('operator');
  const mayAdminister = useMay('admin');
  const [isRenaming, setRenaming] = useState(false);
  const [isRemoving, setRemoving] = useState(false);
  const { api } = useHub();
  if (!mayLaunch) return null;
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={`More for ${node.name}`}>
            <MoreIcon />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => openLaunch({ nodeId: node.id })}>New session here</Menu.Item>
          {mayAdminister && <Menu.Item onClick={() => setRenaming(true)}>Rename</Menu.Item>}
          {mayAdminister && (
            <Menu.Item color="red" onClick={() => setRemoving(true)}>
              Remove from this hub
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {isRenaming && <RenameNode node={node} onClose={() => setRenaming(false)} />}
      {isRemoving && (
        <ConfirmDialog
          label="Remove"
          title={`Remove ${node.name}?`}
          act={() => api.hub('nodes.remove', { node: node.id })}
          onClose={() => setRemoving(false)}
        >
          The hub forgets the key of {node.name} and closes its line. Its sessions go on running there.
        </ConfirmDialog>
      )}
    </>
  );
}

function RenameNode({ node, onClose }: { readonly node: HubNode; readonly onClose: () => void }) {
  const { api } = useHub();
  const [name, setName] = useState<string>(node.name);
  const parsed = NodeName.safeParse(name);
  const renaming = useAct((to: NodeName) => api.hub('nodes.rename', { node: node.id, name: to }), onClose);
  return (
    <Modal opened onClose={onClose} title={`Rename ${node.name}`} centered>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (parsed.success) renaming.mutate(parsed.data);
        }}
      >
        <Stack gap="sm">
          <TextInput
            label="Name"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={parsed.success ? null : parsed.error.issues[0]?.message}
            data-autofocus
          />
          <Text size="sm" c="dimmed">
            At this hub only; the machine itself is called what it is called.
          </Text>
          {renaming.error !== null && <FailureAlert error={renaming.error} title="Not renamed" />}
          <Group justify="flex-end">
            <Button type="submit" loading={renaming.isPending} disabled={!parsed.success}>
              Rename
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

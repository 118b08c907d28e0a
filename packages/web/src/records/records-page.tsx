/** The durable identities behind sessions: to be resumed, renamed, forgotten. */
import { useDeferredValue, useState } from 'react';
import { Button, Group, Modal, Select, Stack, Table, TextInput } from '@mantine/core';
import { Link, useLocation } from 'wouter';
import type { HubView, SeenRecord } from '@roost/client/browser';
import { SessionName, type RecordState } from '@roost/protocol';
import { useHub, useMay, useView } from '../hub/hub-context.tsx';
import { useAct } from '../hub/queries.ts';
import { Ago } from '../parts/ago.tsx';
import { ConfirmButton } from '../parts/confirm.tsx';
import { FailureAlert } from '../parts/failure-alert.tsx';
import { SearchIcon } from '../parts/icons.tsx';
import { Empty, LoadingRows, Page, TableBox } from '../parts/page.tsx';
import type { Tone } from '../parts/session-words.ts';
import { Status } from '../parts/status.tsx';
import { sessionPath, workspacePath } from '../shell/pages.ts';
import { WorkspaceName } from '../worktrees/workspace-name.tsx';

/** Rows that are drawn before somebody asks for more. */
const ROWS_AT_ONCE = 100;

const STATES: Readonly<Record<RecordState, { readonly label: string; readonly tone: Tone }>> = {
  live: { label: 'live', tone: 'ok' },
  'identity-pending': { label: 'live, not known to its provider yet', tone: 'busy' },
  dormant: { label: 'can be resumed', tone: 'quiet' },
  unavailable: { label: 'cannot be resumed', tone: 'bad' },
};

export function RecordsPage() {
  const view = useView();
  const [search, setSearch] = useState('');
  const [state, setState] = useState<RecordState | null>(null);
  return (
    <Page title="Records">
      <Group gap="xs">
        <TextInput
          data-search
          aria-label="Search records"
          placeholder="Search"
          leftSection={<SearchIcon />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <Select<RecordState>
          aria-label="State"
          placeholder="Every state"
          clearable
          data={Object.entries(STATES).map(([value, { label }]) => ({ value: value as RecordState, label }))}
          value={state}
          onChange={setState}
        />
      </Group>
      {view === null ? <LoadingRows /> : <Records view={view} search={search} state={state} />}
    </Page>
  );
}

function Records({
  view,
  search,
  state,
}: {
  readonly view: HubView;
  readonly search: string;
  readonly state: RecordState | null;
}) {
  const [shown, setShown] = useState(ROWS_AT_ONCE);
  const text = useDeferredValue(search).trim().toLowerCase();
  const records = [...view.records.values()]
    .filter((record) => state === null || record.state === state)
    .filter((record) => text === '' || textOf(view, record).includes(text))
    .toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt));
  if (view.records.size === 0)
    return <Empty title="There are no records yet">Every session of an agent makes one.</Empty>;
  if (records.length === 0) return <Empty title="No record is like that" />;
  return (
    <>
      <TableBox label="Records">
        <Table verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Name</Table.Th>
              <Table.Th>State</Table.Th>
              <Table.Th>Where</Table.Th>
              <Table.Th>Changed</Table.Th>
              <Table.Th>
                <span className="roost-hidden">What can be done</span>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {records.slice(0, shown).map((record) => (
              <RecordRow
                key={record.id}
                record={record}
                nodeName={view.nodes.get(record.nodeId)?.name ?? record.nodeId}
              />
            ))}
          </Table.Tbody>
        </Table>
      </TableBox>
      {records.length > shown && (
        <Button variant="default" onClick={() => setShown(shown + ROWS_AT_ONCE)}>
          Show more
        </Button>
      )}
    </>
  );
}

function textOf(view: HubView, { name, provider, workspaceId, nodeId, id }: SeenRecord): string {
  return [name, provider, workspaceId, view.nodes.get(nodeId)?.name, id].join(' ').toLowerCase();
}

function RecordRow({ record, nodeName }: { readonly record: SeenRecord; readonly nodeName: string }) {
  const mayAct = useMay('operator');
  const { label, tone } = STATES[record.state];
  return (
    <Table.Tr>
      <Table.Td>
        {record.activeSession === null ? (
          record.name
        ) : (
          <Link href={sessionPath(record.activeSession.sessionId)}>{record.name}</Link>
        )}
      </Table.Td>
      <Table.Td>
        <Status text={label} tone={tone} />
        {record.lastError !== null && <div className="roost-mono">{record.lastError}</div>}
      </Table.Td>
      <Table.Td>
        {record.provider} in{' '}
        <Link href={workspacePath(record.nodeId, record.workspaceId)}>
          <WorkspaceName nodeId={record.nodeId} workspaceId={record.workspaceId} />
        </Link>{' '}
        on {nodeName}
      </Table.Td>
      <Table.Td>
        <Ago since={record.updatedAt} />
      </Table.Td>
      <Table.Td>{mayAct && <RecordActions record={record} />}</Table.Td>
    </Table.Tr>
  );
}

function RecordActions({ record }: { readonly record: SeenRecord }) {
  const { api } = useHub();
  const [, navigate] = useLocation();
  const [isRenaming, setRenaming] = useState(false);
  const isLive = record.state === 'live' || record.state === 'identity-pending';
  const resuming = useAct(
    () => api.node(record.nodeId, 'record.resume', { recordId: record.id }),
    ({ session }) => navigate(sessionPath(session.id)),
  );
  return (
    <Stack gap={4}>
      <Group gap={6} justify="flex-end" wrap="nowrap">
        {record.state === 'dormant' && (
          <Button size="xs" loading={resuming.isPending} onClick={() => resuming.mutate(undefined)}>
            Resume
          </Button>
        )}
        <Button size="xs" variant="default" onClick={() => setRenaming(true)}>
          Rename
        </Button>
        {!isLive && (
          <ConfirmButton
            label="Forget"
            title={`Forget ${record.name}?`}
            act={() => api.node(record.nodeId, 'record.forget', { recordId: record.id })}
          >
            The record and its ended sessions are forgotten. What the provider keeps of the conversation
            stays.
          </ConfirmButton>
        )}
      </Group>
      {resuming.error !== null && <FailureAlert error={resuming.error} title="Not resumed" />}
      {isRenaming && <RenameRecord record={record} onClose={() => setRenaming(false)} />}
    </Stack>
  );
}

function RenameRecord({ record, onClose }: { readonly record: SeenRecord; readonly onClose: () => void }) {
  const { api } = useHub();
  const [name, setName] = useState<string>(record.name);
  const parsed = SessionName.safeParse(name);
  const renaming = useAct(
    (to: SessionName) => api.node(record.nodeId, 'record.rename', { recordId: record.id, name: to }),
    onClose,
  );
  return (
    <Modal opened onClose={onClose} title={`Rename ${record.name}`} centered>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (parsed.success) renaming.mutate(parsed.data);
        }}
      >
        <Stack gap="sm">
          <TextInput
            label="Name"
            data-autofocus
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={parsed.success ? null : parsed.error.issues[0]?.message}
          />
          {renaming.error !== null && <FailureAlert error={renaming.error} title="Not renamed" />}
          <Group justify="flex-end">
            <Button type="submit" disabled={!parsed.success} loading={renaming.isPending}>
              Rename
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

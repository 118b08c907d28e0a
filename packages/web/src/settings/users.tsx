import { useState } from 'react';
import { Button, Group, Modal, MultiSelect, Select, Stack, Table, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { HubRole, NodeId, UserName, type HubUser } from '@roost/protocol';
import { useHub, useView } from '../hub/hub-context.tsx';
import { useAct, useHubQuery } from '../hub/queries.ts';
import { ConfirmButton } from '../parts/confirm.tsx';
import { CopyField } from '../parts/copy-field.tsx';
import { FailureAlert } from '../parts/failure-alert.tsx';
import { LoadingRows, TableBox } from '../parts/page.tsx';
import { Section } from './section.tsx';

const LIST_KEY = ['hub', 'users.list'];

export function Users() {
  const [isOpen, setOpen] = useState(false);
  const users = useHubQuery('users.list', {});
  return (
    <Section
      title="Users"
      tools={
        <Button size="xs" variant="default" onClick={() => setOpen(true)}>
          New user
        </Button>
      }
    >
      {users.error !== null && (
        <FailureAlert
          error={users.error}
          title="The users could not be listed"
          onRetry={() => void users.refetch()}
        />
      )}
      {users.data === undefined && users.error === null && <LoadingRows rows={2} height={36} />}
      {users.data !== undefined && <UserTable users={users.data.users} />}
      {isOpen && <NewUser onClose={() => setOpen(false)} />}
    </Section>
  );
}

function UserTable({ users }: { readonly users: readonly HubUser[] }) {
  return (
    <TableBox label="All users">
      <Table verticalSpacing={6} fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Role</Table.Th>
            <Table.Th>Reaches</Table.Th>
            <Table.Th>
              <span className="roost-hidden">What can be done</span>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {users.map((user) => (
            <UserRow key={user.name} user={user} />
          ))}
        </Table.Tbody>
      </Table>
    </TableBox>
  );
}

function UserRow({ user }: { readonly user: HubUser }) {
  const { api } = useHub();
  const queries = useQueryClient();
  const view = useView();
  const readAgain = (): void => void queries.invalidateQueries({ queryKey: LIST_KEY });
  const changing = useAct(
    (change: { readonly role?: HubRole; readonly disabled?: boolean }) =>
      api.hub('users.change', { name: user.name, ...change }),
    readAgain,
  );
  const linking = useAct(() => api.hub('logins.create', { user: user.name }));
  const scope = user.scope
    ?.map(({ nodeId, workspaceIds }) => {
      const name = view?.nodes.get(nodeId)?.name ?? nodeId;
      return workspaceIds === null ? name : `${name}: ${workspaceIds.join(', ')}`;
    })
    .join('; ');
  return (
    <Table.Tr>
      <Table.Td>
        {user.name}
        {user.disabled && ' (may not log in)'}
      </Table.Td>
      <Table.Td>
        <Select<HubRole>
          aria-label={`Role of ${user.name}`}
          size="xs"
          w={120}
          allowDeselect={false}
          data={[...HubRole.options]}
          value={user.role}
          disabled={changing.isPending}
          onChange={(role) => role !== null && role !== user.role && changing.mutate({ role })}
        />
      </Table.Td>
      <Table.Td>{scope ?? 'everything'}</Table.Td>
      <Table.Td>
        <Group gap={6} justify="flex-end" wrap="nowrap">
          <Button
            size="xs"
            variant="default"
            loading={linking.isPending}
            onClick={() => linking.mutate(undefined)}
          >
            Login link
          </Button>
          <Button
            size="xs"
            variant="default"
            loading={changing.isPending}
            onClick={() => changing.mutate({ disabled: !user.disabled })}
          >
            {user.disabled ? 'Let in' : 'Shut out'}
          </Button>
          <ConfirmButton
            label="Remove"
            title={`Remove ${user.name}?`}
            act={() => api.hub('users.remove', { name: user.name })}
            onDone={readAgain}
          >
            Their tokens and logins end at once.
          </ConfirmButton>
        </Group>
        {linking.data !== undefined && (
          <CopyField label={`For ${user.name}, once, within five minutes`} value={linking.data.url} />
        )}
        {linking.error !== null && <FailureAlert error={linking.error} title="No link was made" />}
        {changing.error !== null && <FailureAlert error={changing.error} title="Not changed" />}
      </Table.Td>
    </Table.Tr>
  );
}

function NewUser({ onClose }: { readonly onClose: () => void }) {
  const { api } = useHub();
  const queries = useQueryClient();
  const view = useView();
  const [name, setName] = useState('');
  const [role, setRole] = useState<HubRole>('operator');
  const [nodes, setNodes] = useState<string[]>([]);
  const parsed = UserName.safeParse(name);
  const making = useAct(
    (user: UserName) =>
      api.hub('users.create', {
        name: user,
        role,
        scope: nodes.length === 0 ? null : nodes.map((nodeId) => ({ nodeId: NodeId.parse(nodeId) })),
      }),
    () => {
      void queries.invalidateQueries({ queryKey: LIST_KEY });
      onClose();
    },
  );
  return (
    <Modal opened onClose={onClose} title="New user" centered>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (parsed.success) making.mutate(parsed.data);
        }}
      >
        <Stack gap="sm">
          <TextInput
            label="Name"
            data-autofocus
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={name === '' || parsed.success ? null : parsed.error.issues[0]?.message}
          />
          <Select<HubRole>
            label="Role"
            allowDeselect={false}
            data={[...HubRole.options]}
            value={role}
            onChange={(next) => next !== null && setRole(next)}
          />
          <MultiSelect
            label="Machines"
            placeholder={nodes.length === 0 ? 'Every machine' : ''}
            data={[...(view?.nodes.values() ?? [])].map(({ id, name: label }) => ({
              value: id,
              label,
            }))}
            value={nodes}
            onChange={setNodes}
          />
          <Text size="sm" c="dimmed">
            They log in with a link that you make for them afterwards.
          </Text>
          {making.error !== null && <FailureAlert error={making.error} title="Nobody was added" />}
          <Group justify="flex-end">
            <Button type="submit" loading={making.isPending} disabled={!parsed.success}>
              Add
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

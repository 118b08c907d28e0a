import { useState } from 'react';
import { Button, Code, Group, Modal, Stack, Table, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { NodeName, type HubInvite } from '@roost/protocol';
import { useHub, useView } from '../hub/hub-context.tsx';
import { useAct, useHubQuery } from '../hub/queries.ts';
import { ConfirmButton } from '../parts/confirm.tsx';
import { CopyField } from '../parts/copy-field.tsx';
import { FailureAlert } from '../parts/failure-alert.tsx';
import { Empty, LoadingRows, TableBox } from '../parts/page.tsx';
import { Section } from './section.tsx';

const LIST_KEY = ['hub', 'invites.list'];
/** Milliseconds between two looks: one that was used shows it. */
const LOOK_MS = 5_000;

export function Invites() {
  const [isOpen, setOpen] = useState(false);
  const invites = useHubQuery('invites.list', {}, { refetchInterval: LOOK_MS });
  return (
    <Section
      title="Invitations of machines"
      tools={
        <Button size="xs" variant="default" onClick={() => setOpen(true)}>
          Invite a machine
        </Button>
      }
    >
      {invites.error !== null && (
        <FailureAlert
          error={invites.error}
          title="The invitations could not be listed"
          onRetry={() => void invites.refetch()}
        />
      )}
      {invites.data === undefined && invites.error === null && <LoadingRows rows={2} height={36} />}
      {invites.data?.invites.length === 0 && <Empty title="No open invitations" />}
      {invites.data !== undefined && invites.data.invites.length > 0 && (
        <InviteTable invites={invites.data.invites} />
      )}
      {isOpen && <NewInvite onClose={() => setOpen(false)} />}
    </Section>
  );
}

function InviteTable({ invites }: { readonly invites: readonly HubInvite[] }) {
  const { api } = useHub();
  const queries = useQueryClient();
  const view = useView();
  return (
    <TableBox label="All invitations">
      <Table verticalSpacing={6} fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>For</Table.Th>
            <Table.Th>Made by</Table.Th>
            <Table.Th>Good until</Table.Th>
            <Table.Th>Used by</Table.Th>
            <Table.Th>
              <span className="roost-hidden">What can be done</span>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {invites.map((invite) => (
            <Table.Tr key={invite.id}>
              <Table.Td>{invite.nodeName ?? 'any name'}</Table.Td>
              <Table.Td>{invite.createdBy}</Table.Td>
              <Table.Td>{new Date(invite.expiresAt).toLocaleTimeString()}</Table.Td>
              <Table.Td>
                {invite.usedBy === null
                  ? 'nobody yet'
                  : (view?.nodes.get(invite.usedBy)?.name ?? invite.usedBy)}
              </Table.Td>
              <Table.Td ta="right">
                {invite.usedBy === null && (
                  <ConfirmButton
                    label="Revoke"
                    title="Take this invitation back?"
                    act={() => api.hub('invites.revoke', { inviteId: invite.id })}
                    onDone={() => void queries.invalidateQueries({ queryKey: LIST_KEY })}
                  >
                    Its code is good for nothing afterwards.
                  </ConfirmButton>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </TableBox>
  );
}

function NewInvite({ onClose }: { readonly onClose: () => void }) {
  const { api } = useHub();
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const parsed = NodeName.safeParse(name);
  const isNameGood = name === '' || parsed.success;
  const making = useAct(
    () => api.hub('invites.create', { nodeName: parsed.data ?? null }),
    () => void queries.invalidateQueries({ queryKey: LIST_KEY }),
  );
  return (
    <Modal opened onClose={onClose} title="Invite a machine" centered size="lg">
      {making.data !== undefined ? (
        <Stack gap="sm">
          {/* In the command, everybody on that machine could see the code. */}
          <CopyField
            label="Run this on the machine, where Roost is installed"
            value={`roost node join ${making.data.url}`}
          />
          <CopyField
            label={`It asks for this code, which is good once, until ${new Date(making.data.invite.expiresAt).toLocaleTimeString()}`}
            value={making.data.code}
          />
          <Group justify="flex-end">
            <Button onClick={onClose}>Done</Button>
          </Group>
        </Stack>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (isNameGood) making.mutate(undefined);
          }}
        >
          <Stack gap="sm">
            <TextInput
              label="What it will be called"
              placeholder="By its own name"
              data-autofocus
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
              error={isNameGood ? null : parsed.error.issues[0]?.message}
            />
            <Text size="sm" c="dimmed">
              The machine calls this hub from then on; nothing has to be opened towards it. It leaves with{' '}
              <Code>roost node leave</Code>.
            </Text>
            {making.error !== null && <FailureAlert error={making.error} title="No invitation was made" />}
            <Group justify="flex-end">
              <Button type="submit" loading={making.isPending} disabled={!isNameGood}>
                Make a code
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  );
}

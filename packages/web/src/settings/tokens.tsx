import { useState } from 'react';
import { Button, Group, Modal, NumberInput, Select, Stack, Table, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { HubRole, includesRole, TOKEN_DAYS_DEFAULT, TOKEN_DAYS_MAX, type HubToken } from '@roost/protocol';
import { useHub, useMe } from '../hub/hub-context.tsx';
import { useAct, useHubQuery } from '../hub/queries.ts';
import { Ago } from '../parts/ago.tsx';
import { ConfirmButton } from '../parts/confirm.tsx';
import { CopyField } from '../parts/copy-field.tsx';
import { FailureAlert } from '../parts/failure-alert.tsx';
import { Empty, LoadingRows, TableBox } from '../parts/page.tsx';
import { Section } from './section.tsx';

const LIST_KEY = ['hub', 'tokens.list'];

export function Tokens() {
  const { user } = useMe();
  const [isOpen, setOpen] = useState(false);
  const tokens = useHubQuery('tokens.list', {});
  return (
    <Section
      title="Tokens for programs"
      tools={
        user !== null && (
          <Button size="xs" variant="default" onClick={() => setOpen(true)}>
            New token
          </Button>
        )
      }
    >
      {tokens.error !== null && (
        <FailureAlert
          error={tokens.error}
          title="The tokens could not be listed"
          onRetry={() => void tokens.refetch()}
        />
      )}
      {tokens.data === undefined && tokens.error === null && <LoadingRows rows={2} height={36} />}
      {tokens.data?.tokens.length === 0 && <Empty title="No tokens" />}
      {tokens.data !== undefined && tokens.data.tokens.length > 0 && (
        <TokenTable tokens={tokens.data.tokens} />
      )}
      {isOpen && <NewToken onClose={() => setOpen(false)} />}
    </Section>
  );
}

function TokenTable({ tokens }: { readonly tokens: readonly HubToken[] }) {
  const { api } = useHub();
  const queries = useQueryClient();
  return (
    <TableBox label="All tokens">
      <Table verticalSpacing={6} fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Label</Table.Th>
            <Table.Th>User</Table.Th>
            <Table.Th>Role</Table.Th>
            <Table.Th>Last used</Table.Th>
            <Table.Th>Good until</Table.Th>
            <Table.Th>
              <span className="roost-hidden">What can be done</span>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {tokens.map((token) => (
            <Table.Tr key={token.id}>
              <Table.Td>{token.label}</Table.Td>
              <Table.Td>{token.user}</Table.Td>
              <Table.Td>
                {token.role}
                {token.scope !== null && ', in part'}
              </Table.Td>
              <Table.Td>{token.lastUsedAt === null ? 'never' : <Ago since={token.lastUsedAt} />}</Table.Td>
              <Table.Td>{new Date(token.expiresAt).toLocaleDateString()}</Table.Td>
              <Table.Td ta="right">
                <ConfirmButton
                  label="Revoke"
                  title={`Revoke ${token.label}?`}
                  act={() => api.hub('tokens.revoke', { tokenId: token.id })}
                  onDone={() => void queries.invalidateQueries({ queryKey: LIST_KEY })}
                >
                  What uses it is cut off at once.
                </ConfirmButton>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </TableBox>
  );
}

function NewToken({ onClose }: { readonly onClose: () => void }) {
  const { api } = useHub();
  const me = useMe();
  const queries = useQueryClient();
  const [label, setLabel] = useState('');
  const [role, setRole] = useState<HubRole>(me.role);
  const [days, setDays] = useState<number>(TOKEN_DAYS_DEFAULT);
  const making = useAct(
    () => api.hub('tokens.create', { label: label.trim(), role, expiresInDays: days, scope: null }),
    () => void queries.invalidateQueries({ queryKey: LIST_KEY }),
  );
  return (
    <Modal opened onClose={onClose} title="New token" centered>
      {making.data !== undefined ? (
        <Stack gap="sm">
          <CopyField label="The token: it is shown this once" value={making.data.secret} />
          <Group justify="flex-end">
            <Button onClick={onClose}>I have it</Button>
          </Group>
        </Stack>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            making.mutate(undefined);
          }}
        >
          <Stack gap="sm">
            <TextInput
              label="Label"
              description="What it is for"
              data-autofocus
              required
              maxLength={64}
              value={label}
              onChange={(event) => setLabel(event.currentTarget.value)}
            />
            <Select<HubRole>
              label="Role"
              allowDeselect={false}
              data={HubRole.options.filter((one) => includesRole(me.role, one))}
              value={role}
              onChange={(next) => next !== null && setRole(next)}
            />
            <NumberInput
              label="Days"
              min={1}
              max={TOKEN_DAYS_MAX}
              allowDecimal={false}
              value={days}
              onChange={(next) => setDays(typeof next === 'number' ? next : TOKEN_DAYS_DEFAULT)}
            />
            <Text size="sm" c="dimmed">
              It can do no more than you can.
            </Text>
            {making.error !== null && <FailureAlert error={making.error} title="No token was made" />}
            <Group justify="flex-end">
              <Button type="submit" loading={making.isPending} disabled={label.trim() === ''}>
                Make it
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  );
}

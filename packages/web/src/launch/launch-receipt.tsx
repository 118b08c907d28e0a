import { Button, Group, Stack, Table, Text } from '@mantine/core';
import { useLocation } from 'wouter';
import type { Provenance, SessionId, SpawnReceipt } from '@roost/protocol';
import { sessionPath } from '../shell/pages.ts';

export type LaunchOutcome =
  | { readonly kind: 'started'; readonly sessionId: SessionId; readonly name: string }
  | { readonly kind: 'receipt'; readonly receipt: SpawnReceipt };

const WORDS: Readonly<Record<Provenance, string>> = {
  profile: 'from the profile',
  override: 'as you said',
  cleared: 'left out, as you said',
};

/** What was started, and where each part of it came from. */
export function LaunchReceipt({
  outcome,
  onClose,
}: {
  readonly outcome: LaunchOutcome;
  readonly onClose: () => void;
}) {
  const [, navigate] = useLocation();
  const [name, sessionId] =
    outcome.kind === 'started'
      ? [outcome.name, outcome.sessionId]
      : [outcome.receipt.name, outcome.receipt.session.sessionId];
  return (
    <Stack gap="sm">
      <Text fw={600} role="status">
        {name} runs.
      </Text>
      {outcome.kind === 'receipt' && <ReceiptTable receipt={outcome.receipt} />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Close
        </Button>
        <Button
          data-autofocus
          onClick={() => {
            onClose();
            navigate(sessionPath(sessionId));
          }}
        >
          Open it
        </Button>
      </Group>
    </Stack>
  );
}

function ReceiptTable({ receipt }: { readonly receipt: SpawnReceipt }) {
  const { provenance } = receipt;
  const rows: readonly (readonly [label: string, value: string, from: string])[] = [
    ['Profile', `${receipt.profileId}, revision ${receipt.profileRevision}`, ''],
    ['Provider', receipt.provider, WORDS[provenance.provider]],
    ['Runs', receipt.transport === 'pty' ? 'in a terminal' : 'spoken with', WORDS[provenance.transport]],
    ['Arguments', String(receipt.arguments), WORDS[provenance.arguments]],
    [
      'Prompt',
      receipt.prompt.present ? `${receipt.prompt.byteLength} bytes` : 'none',
      WORDS[provenance.prompt],
    ],
    ['Environment', receipt.environmentProfile?.profileId ?? 'none', WORDS[provenance.environmentProfile]],
    ['Bundle', receipt.bundle?.id ?? 'none', WORDS[provenance.bundle]],
    ['Context', receipt.context?.id ?? 'none', WORDS[provenance.context]],
    ['Workspace', receipt.target.workspaceId, ''],
    ...(receipt.worktree === null ? [] : [['Worktree', receipt.worktree.branch, ''] as const]),
  ];
  return (
    <Table withRowBorders={false} verticalSpacing={3}>
      <Table.Tbody>
        {rows.map(([label, value, from]) => (
          <Table.Tr key={label}>
            <Table.Th scope="row">{label}</Table.Th>
            <Table.Td>{value}</Table.Td>
            <Table.Td c="dimmed">{from}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

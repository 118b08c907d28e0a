/** Who changed what, newest first. */
import { useState } from 'react';
import { Button, Group, Table, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { AuditEntry } from '@roost/protocol';
import { useHub, useMay, useView } from '../hub/hub-context.tsx';
import { FailureAlert } from '../parts/failure-alert.tsx';
import { Empty, LoadingRows, Page, TableBox } from '../parts/page.tsx';
import { auditActs, targetText } from './audit-acts.ts';

/** Lines of one page. */
const LINES_AT_ONCE = 100;
/** Milliseconds after the last letter of a filter. */
const TYPING_MS = 300;

export function AuditPage() {
  const mayRead = useMay('admin');
  const [actor, setActor] = useState('');
  const [operation, setOperation] = useState('');
  const [filter] = useDebouncedValue({ actor: actor.trim(), operation: operation.trim() }, TYPING_MS);
  return (
    <Page title="Audit">
      <Group gap="xs">
        <TextInput
          data-search
          aria-label="Who"
          placeholder="Who"
          value={actor}
          onChange={(event) => setActor(event.currentTarget.value)}
        />
        <TextInput
          aria-label="Operation"
          placeholder="Operation, such as session.stop"
          w={260}
          value={operation}
          onChange={(event) => setOperation(event.currentTarget.value)}
        />
      </Group>
      {mayRead ? (
        <Lines actor={filter.actor} operation={filter.operation} />
      ) : (
        <Empty title="Only admins read the audit log" />
      )}
    </Page>
  );
}

function Lines({ actor, operation }: { readonly actor: string; readonly operation: string }) {
  const { api } = useHub();
  const lines = useInfiniteQuery({
    queryKey: ['hub', 'audit.list', { actor, operation }],
    queryFn: ({ pageParam, signal }) =>
      api.hub(
        'audit.list',
        {
          limit: LINES_AT_ONCE,
          ...(actor === '' ? {} : { actor }),
          ...(operation === '' ? {} : { operation }),
          ...(pageParam === null ? {} : { before: pageParam }),
        },
        { signal },
      ),
    initialPageParam: null as number | null,
    getNextPageParam: ({ entries, hasMore }) => (hasMore ? (entries.at(-1)?.sequence ?? null) : null),
  });
  if (lines.data === undefined) {
    return lines.error === null ? (
      <LoadingRows height={32} rows={8} />
    ) : (
      <FailureAlert
        error={lines.error}
        title="The audit log could not be read"
        onRetry={() => void lines.refetch()}
      />
    );
  }
  const entries = auditActs(lines.data.pages.flatMap((page) => page.entries));
  if (entries.length === 0) return <Empty title="No line is like that" />;
  return (
    <>
      <TableBox label="Audit log">
        <Table verticalSpacing={4} fz="sm">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>When</Table.Th>
              <Table.Th>Who</Table.Th>
              <Table.Th>What</Table.Th>
              <Table.Th>To what</Table.Th>
              <Table.Th>Outcome</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {entries.map((entry) => (
              <Line key={entry.sequence} entry={entry} />
            ))}
          </Table.Tbody>
        </Table>
      </TableBox>
      <Group>
        <Button variant="default" size="xs" loading={lines.isRefetching} onClick={() => void lines.refetch()}>
          Read again
        </Button>
        {lines.hasNextPage && (
          <Button
            variant="default"
            size="xs"
            loading={lines.isFetchingNextPage}
            onClick={() => void lines.fetchNextPage()}
          >
            Older lines
          </Button>
        )}
      </Group>
    </>
  );
}

function Line({ entry }: { readonly entry: AuditEntry }) {
  const view = useView();
  return (
    <Table.Tr>
      <Table.Td className="roost-numbers roost-whole" title={`request ${entry.requestId}`}>
        {new Date(entry.at).toLocaleString()}
      </Table.Td>
      <Table.Td title={`${entry.credential ?? 'no credential'} from ${entry.from}`}>{entry.actor}</Table.Td>
      <Table.Td className="roost-mono">{entry.operation}</Table.Td>
      <Table.Td title={idsText(entry)}>{targetText(entry, view)}</Table.Td>
      <Table.Td>
        <Text
          component="span"
          size="sm"
          c={entry.outcome === 'done' || entry.outcome === null ? 'dimmed' : 'red'}
        >
          {entry.outcome ?? 'asked'}
        </Text>
      </Table.Td>
    </Table.Tr>
  );
}

/** As they are in the log. */
function idsText({ target }: AuditEntry): string {
  return Object.entries(target)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}

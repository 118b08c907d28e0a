/** What the lists of worktrees look alike in, whoever made them. */
import type { ReactNode } from 'react';
import { Table } from '@mantine/core';
import { Link } from 'wouter';
import type { SessionId } from '@roost/protocol';
import { TableBox } from '../parts/page.tsx';
import { sessionPath } from '../shell/pages.ts';

export function WorktreeTable({
  label,
  first,
  last,
  children,
}: {
  readonly label: string;
  /** Headings of the columns in which they differ. */
  readonly first: string;
  readonly last: string;
  readonly children: ReactNode;
}) {
  return (
    <TableBox label={label}>
      <Table verticalSpacing="xs" layout="fixed">
        <Table.Thead>
          <Table.Tr>
            {[first, 'State', 'Of', 'Held by', last].map((heading) => (
              <Table.Th key={heading}>{heading}</Table.Th>
            ))}
            <Table.Th>
              <span className="roost-hidden">What can be done</span>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </TableBox>
  );
}

export function SessionLinks({
  sessions,
}: {
  readonly sessions: readonly { readonly id: SessionId; readonly name: string }[];
}) {
  return sessions.map(({ id, name }, index) => (
    <span key={id}>
      {index > 0 && ', '}
      <Link href={sessionPath(id)}>{name}</Link>
    </span>
  ));
}

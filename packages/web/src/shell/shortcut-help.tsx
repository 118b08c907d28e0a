import { Kbd, Modal, Table } from '@mantine/core';
import { PAGES } from './pages.ts';

const KEYS: readonly (readonly [readonly string[], string])[] = [
  [['Ctrl', 'K'], 'Go to a session, workspace, node or page'],
  [['Ctrl', 'Shift', 'K'], 'The same from within a terminal'],
  [['n'], 'New session'],
  [['/'], 'Search on this page'],
  [['F6'], 'Leave the terminal'],
  [['j'], 'Next session on the board'],
  [['k'], 'Previous session on the board'],
  ...PAGES.map(({ key, label }) => [['g', key], label] as const),
  [['?'], 'This list'],
];

export function ShortcutHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title="Keys">
      <Table>
        <Table.Tbody>
          {KEYS.map(([keys, label]) => (
            <Table.Tr key={keys.join(' ')}>
              <Table.Td>
                {keys.map((key) => (
                  <Kbd key={key} mr={4}>
                    {key}
                  </Kbd>
                ))}
              </Table.Td>
              <Table.Td>{label}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}

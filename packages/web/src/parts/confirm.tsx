import { useState, type ReactNode } from 'react';
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { FailureAlert } from './failure-alert.tsx';
import { useAct } from '../hub/queries.ts';

interface Confirmed {
  /** What is done, in a word or two. */
  readonly label: string;
  readonly title: string;
  /** What will happen. */
  readonly children: ReactNode;
  readonly act: () => Promise<unknown>;
  readonly onDone?: () => void;
}

/** A button for what cannot be taken back: asks first, and says what came of it. */
export function ConfirmButton(confirmed: Confirmed) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button size="xs" variant="light" color="red" onClick={() => setOpen(true)}>
        {confirmed.label}
      </Button>
      {isOpen && <ConfirmDialog {...confirmed} onClose={() => setOpen(false)} />}
    </>
  );
}

export function ConfirmDialog({
  label,
  title,
  children,
  act,
  onDone,
  onClose,
}: Confirmed & { readonly onClose: () => void }) {
  const doing = useAct(act, () => {
    onClose();
    onDone?.();
  });
  return (
    <Modal opened onClose={onClose} title={title} centered>
      <Stack gap="sm">
        <Text size="sm" component="div">
          {children}
        </Text>
        {doing.error !== null && <FailureAlert error={doing.error} title="That was not done" />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            Cancel
          </Button>
          <Button color="red" loading={doing.isPending} onClick={() => doing.mutate(undefined)}>
            {label}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

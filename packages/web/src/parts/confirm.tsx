import { useState, type ReactNode } from 'react';
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { FailureAlert } from './failure-alert.tsx';
import { useAct } from '../hub/queries.ts';

/** A button for what cannot be taken back: asks first, and says what came of it. */
export function ConfirmButton({
  label,
  title,
  children,
  act,
  onDone,
  disabled = false,
}: {
  readonly label: string;
  readonly title: string;
  /** What will happen. */
  readonly children: ReactNode;
  readonly act: () => Promise<unknown>;
  readonly onDone?: () => void;
  readonly disabled?: boolean;
}) {
  const [opened, setOpened] = useState(false);
  const doing = useAct(act, () => {
    setOpened(false);
    onDone?.();
  });
  const close = (): void => {
    setOpened(false);
    doing.reset();
  };
  return (
    <>
      <Button
        size="compact-sm"
        variant="light"
        color="red"
        disabled={disabled}
        onClick={() => setOpened(true)}
      >
        {label}
      </Button>
      <Modal opened={opened} onClose={close} title={title} centered>
        <Stack gap="sm">
          <Text size="sm" component="div">
            {children}
          </Text>
          {doing.error !== null && <FailureAlert error={doing.error} title="That was not done" />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close} data-autofocus>
              Cancel
            </Button>
            <Button color="red" loading={doing.isPending} onClick={() => doing.mutate(undefined)}>
              {label}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}

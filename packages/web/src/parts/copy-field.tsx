import { Button, CopyButton, Group, TextInput } from '@mantine/core';

/** Something to take elsewhere, such as a secret that is shown once. */
export function CopyField({ label, value }: { readonly label: string; readonly value: string }) {
  return (
    <Group align="flex-end" gap="xs" wrap="nowrap">
      <TextInput
        label={label}
        value={value}
        readOnly
        onFocus={(event) => event.currentTarget.select()}
        className="roost-grow"
        classNames={{ input: 'roost-mono' }}
      />
      <CopyButton value={value}>
        {({ copied, copy }) => (
          <Button variant="default" onClick={copy} aria-live="polite">
            {copied ? 'Copied' : 'Copy'}
          </Button>
        )}
      </CopyButton>
    </Group>
  );
}

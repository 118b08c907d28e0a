import type { ReactNode } from 'react';
import { Group, Stack, Text } from '@mantine/core';

export function Section({
  title,
  tools,
  children,
}: {
  readonly title: string;
  readonly tools?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <Stack gap="xs" component="section" aria-label={title}>
      <Group justify="space-between">
        <Text component="h2" fw={600}>
          {title}
        </Text>
        {tools}
      </Group>
      {children}
    </Stack>
  );
}

import { Alert, Button, Group, Text } from '@mantine/core';
import { FailureError } from '@roost/protocol';

/** Why something could not be shown or done, and a way to try again where that can help. */
export function FailureAlert({
  error,
  title,
  onRetry,
}: {
  readonly error: Error;
  /** What was tried. */
  readonly title: string;
  readonly onRetry?: (() => void) | undefined;
}) {
  return (
    <Alert color="red" variant="light" title={title} role="alert">
      <Text size="sm">{failureSentence(error)}</Text>
      <Group gap="sm" mt={4}>
        <Text size="xs" c="dimmed" className="roost-mono">
          {failureFacts(error)}
        </Text>
        {onRetry !== undefined && (
          <Button size="compact-xs" variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Group>
    </Alert>
  );
}

export function failureSentence(error: Error): string {
  return error instanceof FailureError
    ? error.failure.message
    : 'Something unexpected went wrong in this page; its console has the details.';
}

/** Code and details, for whoever looks into the logs. */
function failureFacts(error: Error): string {
  if (!(error instanceof FailureError)) return error.name;
  const { code, details = {} } = error.failure;
  return [code, ...Object.entries(details).map(([name, value]) => `${name}=${String(value)}`)].join('  ');
}

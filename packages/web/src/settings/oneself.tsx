import { useState } from 'react';
import { Button, Group, SegmentedControl, Text, useMantineColorScheme } from '@mantine/core';
import { useHub, useMe } from '../hub/hub-context.tsx';
import { useAct } from '../hub/queries.ts';
import { CopyField } from '../parts/copy-field.tsx';
import { FailureAlert } from '../parts/failure-alert.tsx';
import { Section } from './section.tsx';

export function Oneself() {
  const me = useMe();
  const { api } = useHub();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const leaving = useAct(
    () => api.hub('logins.end', {}),
    () => location.reload(),
  );
  const linking = useAct(() => api.hub('logins.create', {}));
  const scope =
    me.scope === null
      ? 'every machine'
      : `${me.scope.length} ${me.scope.length === 1 ? 'machine' : 'machines'}`;
  return (
    <Section title="You">
      <Text size="sm">
        {me.user ?? 'the owner of the hub'}, {me.role}, of {scope}
        {me.expiresAt !== null && `; logged in until ${new Date(me.expiresAt).toLocaleString()}`}
      </Text>
      <Group gap="sm">
        <SegmentedControl
          aria-label="Colours"
          value={colorScheme}
          onChange={setColorScheme}
          data={[
            { value: 'auto', label: 'As the system' },
            { value: 'light', label: 'Light' },
            { value: 'dark', label: 'Dark' },
          ]}
        />
        <NoticesButton />
        {me.user !== null && (
          <Button variant="default" loading={linking.isPending} onClick={() => linking.mutate(undefined)}>
            Log another browser in
          </Button>
        )}
        <Button variant="default" loading={leaving.isPending} onClick={() => leaving.mutate(undefined)}>
          Log out
        </Button>
      </Group>
      {linking.data !== undefined && (
        <CopyField
          label={`Open it there once, until ${new Date(linking.data.expiresAt).toLocaleTimeString()}`}
          value={linking.data.url}
        />
      )}
      {linking.error !== null && <FailureAlert error={linking.error} title="No link was made" />}
      {leaving.error !== null && <FailureAlert error={leaving.error} title="You are still logged in" />}
    </Section>
  );
}

/** Asks the system for leave to show notices: only on a click. */
function NoticesButton() {
  const isKnown = 'Notification' in window;
  const [permission, setPermission] = useState(isKnown ? Notification.permission : 'denied');
  if (!isKnown) return <Text size="sm">This browser shows no notices.</Text>;
  if (permission === 'granted') return <Text size="sm">Notices are on while this page is open.</Text>;
  if (permission === 'denied')
    return <Text size="sm">Notices are blocked in the settings of the browser.</Text>;
  return (
    <Button variant="default" onClick={() => void Notification.requestPermission().then(setPermission)}>
      Notify me when a session waits
    </Button>
  );
}

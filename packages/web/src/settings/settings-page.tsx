/** Oneself, and for admins the users and machines of the hub. */
import { Stack } from '@mantine/core';
import { useMay } from '../hub/hub-context.tsx';
import { Page } from '../parts/page.tsx';
import { Invites } from './invites.tsx';
import { Oneself } from './oneself.tsx';
import { Tokens } from './tokens.tsx';
import { Users } from './users.tsx';

export function SettingsPage() {
  const mayAdminister = useMay('admin');
  return (
    <Page title="Settings">
      <Stack gap="xl">
        <Oneself />
        <Tokens />
        {mayAdminister && <Invites />}
        {mayAdminister && <Users />}
      </Stack>
    </Page>
  );
}

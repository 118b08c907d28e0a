import { useRef, useState } from 'react';
import { Button, Group, SegmentedControl, Select, Stack, Text, Textarea, TextInput } from '@mantine/core';
import type { NodeSnapshot, Transport } from '@roost/protocol';
import { useHub } from '../hub/hub-context.tsx';
import { useAct } from '../hub/queries.ts';
import { FailureAlert } from '../parts/failure-alert.tsx';
import type { LaunchPreset } from '../shell/launch-context.ts';
import {
  LAUNCH_DEADLINE_MS,
  launchFault,
  launchRequest,
  type LaunchChoice,
  type LaunchRequest,
} from './launch-request.ts';
import { PlaceFields, type FieldsProps } from './launch-places.tsx';
import { LaunchReceipt, type LaunchOutcome } from './launch-receipt.tsx';
import styles from './launch.module.css';

/** Failures after which it is not known whether it was started: asking again with the same key tells. */
const UNSURE: readonly string[] = [
  'request-timed-out',
  'hub-unreachable',
  'outcome-unknown',
  'connection-lost',
];

export function LaunchForm({
  snapshot,
  preset,
  onStarted,
  onClose,
}: {
  readonly snapshot: NodeSnapshot;
  readonly preset: LaunchPreset;
  /** What was chosen is not to be changed any more. */
  readonly onStarted: () => void;
  readonly onClose: () => void;
}) {
  const { api } = useHub();
  const [choice, setChoice] = useState<LaunchChoice>(() => firstChoice(snapshot, preset));
  const key = useRef(crypto.randomUUID());
  const launching = useAct(async ({ operation, params }: LaunchRequest): Promise<LaunchOutcome> => {
    const options = { timeoutMs: LAUNCH_DEADLINE_MS + 10_000 };
    const { nodeId } = snapshot;
    if (operation === 'session.spawn') {
      const session = await api.node(nodeId, operation, params, options);
      return { kind: 'started', sessionId: session.id, name: session.name };
    }
    const receipt =
      operation === 'spawn.submit'
        ? await api.node(nodeId, operation, params, options)
        : await api.node(nodeId, operation, params, options);
    return { kind: 'receipt', receipt };
  }, onStarted);
  const change = (changed: Partial<LaunchChoice>): void => {
    // Another launch than the one that was asked for.
    key.current = crypto.randomUUID();
    launching.reset();
    setChoice({ ...choice, ...changed });
  };
  if (launching.data !== undefined) return <LaunchReceipt outcome={launching.data} onClose={onClose} />;
  const fault = launchFault(choice);
  const isUnsure = launching.error !== null && UNSURE.includes(launching.error.failure.code);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (fault === null) launching.mutate(launchRequest(choice, key.current));
      }}
    >
      <Stack gap="sm">
        <ProfileFields snapshot={snapshot} choice={choice} onChange={change} />
        <PlaceFields snapshot={snapshot} choice={choice} onChange={change} />
        <Textarea
          label="First prompt"
          autoFocus
          placeholder="None"
          autosize
          minRows={2}
          maxRows={10}
          value={choice.prompt}
          onChange={(event) => change({ prompt: event.currentTarget.value })}
        />
        <TextInput
          label="Name"
          placeholder="Made from the provider"
          value={choice.name}
          onChange={(event) => change({ name: event.currentTarget.value })}
        />
        {fault !== null && (
          <Text size="sm" c="dimmed" role="status">
            {fault}
          </Text>
        )}
        {launching.error !== null && (
          <FailureAlert
            error={launching.error}
            title={isUnsure ? 'It is not known whether it was started' : 'It was not started'}
          />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={launching.isPending} disabled={fault !== null}>
            {isUnsure && choice.profile !== null ? 'Ask again' : 'Start'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

const NO_PROFILE = '';

function ProfileFields({ snapshot, choice, onChange }: FieldsProps) {
  const profiles = snapshot.launchInventory.spawnProfiles ?? [];
  const providers = (snapshot.providers ?? []).map(({ id, displayName, installed }) => ({
    value: id,
    label: installed ? displayName : `${displayName} (not installed)`,
    disabled: !installed,
  }));
  return (
    <>
      {profiles.length > 0 && (
        <Select
          label="Profile"
          allowDeselect={false}
          data={[
            ...profiles.map(({ id, description }) => ({
              value: id,
              label: description === null ? id : `${id}: ${description}`,
            })),
            { value: NO_PROFILE, label: 'None: the provider as it is' },
          ]}
          value={choice.profile?.id ?? NO_PROFILE}
          onChange={(next) => {
            const profile = profiles.find(({ id }) => id === next) ?? null;
            onChange(
              profile === null
                ? { profile }
                : { profile, provider: profile.provider, transport: profile.transport },
            );
          }}
        />
      )}
      <div className={styles.pair}>
        <Select
          label="Provider"
          allowDeselect={false}
          searchable
          data={providers.length > 0 ? providers : [{ value: choice.provider, label: choice.provider }]}
          value={choice.provider}
          onChange={(provider) => provider !== null && onChange({ provider })}
        />
        <SegmentedControl
          aria-label="How it runs"
          value={choice.transport}
          onChange={(transport) => onChange({ transport })}
          data={
            [
              { value: 'pty', label: 'In a terminal' },
              { value: 'pipe', label: 'Spoken with' },
            ] satisfies { value: Transport; label: string }[]
          }
        />
      </div>
    </>
  );
}

function firstChoice(snapshot: NodeSnapshot, { workspaceId }: LaunchPreset): LaunchChoice {
  const workspace = snapshot.workspaces.find(({ id }) => id === workspaceId) ?? snapshot.workspaces[0];
  if (workspace === undefined) throw new Error('there is no workspace to start in');
  const profile = snapshot.launchInventory.spawnProfiles?.[0] ?? null;
  const installed = snapshot.providers?.find((provider) => provider.installed);
  return {
    nodeId: snapshot.nodeId,
    workspace,
    profile,
    provider: profile?.provider ?? installed?.id ?? snapshot.enabledProviders[0] ?? 'claude',
    transport: profile?.transport ?? 'pty',
    place: { kind: 'workspace' },
    prompt: '',
    name: '',
  };
}

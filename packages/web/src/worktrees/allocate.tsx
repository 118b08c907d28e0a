import { useRef, useState } from 'react';
import { Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { IdempotencyKey, SessionName, type NodeId, type WorktreeProfileSummary } from '@roost/protocol';
import { useHub } from '../hub/hub-context.tsx';
import { nodeKey, useAct, useNodeQuery } from '../hub/queries.ts';
import { FailureAlert } from '../parts/failure-alert.tsx';

/** Milliseconds that making one may take: its set-up may install dependencies. */
const ALLOCATE_MS = 600_000;

/** Makes a managed worktree for later; nothing where there is no profile for one. */
export function AllocateButton({ nodeId }: { readonly nodeId: NodeId }) {
  const [isOpen, setOpen] = useState(false);
  const profiles = useNodeQuery(nodeId, 'worktree.profiles', {}, { staleTime: 60_000 });
  if (profiles.data === undefined || profiles.data.profiles.length === 0) return null;
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setOpen(true)}>
        New worktree
      </Button>
      {isOpen && (
        <AllocateDialog nodeId={nodeId} profiles={profiles.data.profiles} onClose={() => setOpen(false)} />
      )}
    </>
  );
}

function AllocateDialog({
  nodeId,
  profiles,
  onClose,
}: {
  readonly nodeId: NodeId;
  readonly profiles: readonly WorktreeProfileSummary[];
  readonly onClose: () => void;
}) {
  const { api } = useHub();
  const queries = useQueryClient();
  const [profile, setProfile] = useState(profiles[0]);
  const [name, setName] = useState('');
  const key = useRef(crypto.randomUUID());
  const parsed = SessionName.safeParse(name);
  const isNameGood = name === '' || parsed.success;
  const allocating = useAct(
    (chosen: WorktreeProfileSummary) =>
      api.node(
        nodeId,
        'worktree.allocate',
        {
          profileId: chosen.id,
          expectedRevision: chosen.revision,
          name: parsed.data ?? null,
          idempotencyKey: IdempotencyKey.parse(key.current),
        },
        { timeoutMs: ALLOCATE_MS },
      ),
    () => {
      void queries.invalidateQueries({ queryKey: nodeKey(nodeId, 'worktree.leases') });
      onClose();
    },
  );
  return (
    <Modal opened onClose={onClose} title="New worktree" centered>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (profile !== undefined && isNameGood) allocating.mutate(profile);
        }}
      >
        <Stack gap="sm">
          <Select
            label="Profile"
            allowDeselect={false}
            data={profiles.map(({ id, sourceWorkspace }) => ({
              value: id,
              label: `${id} (of ${sourceWorkspace})`,
            }))}
            value={profile?.id ?? null}
            onChange={(next) => {
              key.current = crypto.randomUUID();
              setProfile(profiles.find(({ id }) => id === next));
            }}
          />
          <TextInput
            label="Name"
            placeholder="Made by itself"
            value={name}
            onChange={(event) => {
              key.current = crypto.randomUUID();
              setName(event.currentTarget.value);
            }}
            error={isNameGood ? null : 'letters, digits, dots, dashes and underscores'}
          />
          {allocating.error !== null && <FailureAlert error={allocating.error} title="It was not made" />}
          <Group justify="flex-end">
            <Button type="submit" loading={allocating.isPending}>
              Make it
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

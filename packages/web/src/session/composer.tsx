import { useState } from 'react';
import { Button, Group, Textarea } from '@mantine/core';
import type { SeenSession } from '@roost/client/browser';
import { addressOf } from '@roost/protocol';
import { useHub } from '../hub/hub-context.tsx';
import { useAct } from '../hub/queries.ts';
import { FailureAlert } from '../parts/failure-alert.tsx';

/** Gives an agent that is spoken with its next prompt. Kept until it is known to have arrived. */
export function Composer({ session }: { readonly session: SeenSession }) {
  const { api } = useHub();
  const [text, setText] = useState('');
  const prompting = useAct(
    (prompt: string) =>
      api.node(session.nodeId, 'session.prompt', { ...addressOf(session), text: prompt, until: 'queued' }),
    () => setText(''),
  );
  const send = (): void => {
    if (text.trim() !== '' && !prompting.isPending) prompting.mutate(text);
  };
  return (
    <>
      {prompting.error !== null && <FailureAlert error={prompting.error} title="The prompt did not arrive" />}
      <Group gap="xs" align="flex-end" wrap="nowrap">
        <Textarea
          aria-label="Prompt"
          placeholder="Prompt (Ctrl-Enter sends)"
          autosize
          minRows={1}
          maxRows={10}
          className="roost-grow"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            send();
          }}
        />
        <Button loading={prompting.isPending} disabled={text.trim() === ''} onClick={send}>
          Send
        </Button>
      </Group>
    </>
  );
}

/** What an agent asks, to be answered here. */
import { useEffect, useState } from 'react';
import { Button, Textarea, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { SeenSession } from '@roost/client/browser';
import type { Interaction, InteractionReply } from '@roost/protocol';
import { useHub } from '../hub/hub-context.tsx';
import { nodeKey, useAct, useNodeQuery } from '../hub/queries.ts';
import { Ago } from '../parts/ago.tsx';
import { FailureAlert } from '../parts/failure-alert.tsx';
import { LoadingRows } from '../parts/page.tsx';
import { waitsForPerson } from '../parts/session-words.ts';
import { askedText } from './asked-text.ts';
import { ChangedLines } from './changed-lines.tsx';
import { toolChange } from './tool-change.ts';
import styles from './interactions.module.css';

/** Milliseconds between two looks, should an event have been lost with a line. */
const LOOK_MS = 15_000;

/** Pixels that what is asked mostly takes: its place is held, for what is below it is being read already. */
const ASKED_PX = 140;

export function Interactions({ session }: { readonly session: SeenSession }) {
  const { mirror } = useHub();
  const queries = useQueryClient();
  const { id, nodeId } = session;
  const asked = useNodeQuery(nodeId, 'interaction.list', { sessionId: id }, { refetchInterval: LOOK_MS });
  useEffect(
    () =>
      mirror.onEvent(({ body }) => {
        if (body.kind === 'interaction-changed' && body.interaction.session.sessionId === id)
          void queries.invalidateQueries({ queryKey: nodeKey(nodeId, 'interaction.list') });
      }),
    [mirror, queries, nodeId, id],
  );
  if (asked.error !== null)
    return (
      <FailureAlert
        error={asked.error}
        title="What it asks could not be read"
        onRetry={() => void asked.refetch()}
      />
    );
  if (asked.data === undefined)
    return waitsForPerson(session) ? <LoadingRows rows={1} height={ASKED_PX} /> : null;
  const waiting = asked.data.interactions;
  if (waiting.length === 0) return null;
  return (
    <section className={styles.list} aria-label="What it asks">
      {waiting.map((interaction) => (
        <InteractionCard key={interaction.id} session={session} interaction={interaction} />
      ))}
    </section>
  );
}

function InteractionCard({
  session,
  interaction,
}: {
  readonly session: SeenSession;
  readonly interaction: Interaction;
}) {
  const { api } = useHub();
  const queries = useQueryClient();
  const settle = (): void =>
    void queries.invalidateQueries({ queryKey: nodeKey(session.nodeId, 'interaction.list') });
  const answering = useAct(
    (reply: InteractionReply) =>
      api.node(session.nodeId, 'interaction.resolve', { interactionId: interaction.id, reply }),
    settle,
  );
  const answer = (reply: InteractionReply) => () => answering.mutate(reply);
  const code = answering.error?.failure.code;
  const change = toolChange(interaction.detail);
  const hasOptions = interaction.options.length > 0;
  const takesText = interaction.interaction === 'question' && !hasOptions;
  // To refuse once is what is offered below, where the agent can be told why.
  const options = interaction.options.filter(({ kind }) => takesText || kind !== 'reject-once');
  return (
    <article className={styles.card}>
      <div className={styles.title}>
        {askedText(interaction)}{' '}
        <span className={styles.when}>
          <Ago since={interaction.askedAt} />
        </span>
      </div>
      {interaction.detail !== '' && interaction.detail !== interaction.title && (
        <pre className={styles.detail} tabIndex={0} aria-label="What it is about">
          {change === null ? interaction.detail : <ChangedLines lines={change.lines} />}
        </pre>
      )}
      <div className={styles.answers}>
        {options.map((option) => (
          <Button
            key={option.optionId}
            size="xs"
            variant={option.kind === 'allow-once' ? 'filled' : 'default'}
            loading={answering.isPending}
            onClick={answer({ kind: 'option', optionId: option.optionId })}
          >
            {option.label}
          </Button>
        ))}
        {interaction.interaction === 'approval' && !hasOptions && (
          <Button size="xs" loading={answering.isPending} onClick={answer({ kind: 'allow' })}>
            Allow once
          </Button>
        )}
        {takesText ? (
          <AnswerText
            isBusy={answering.isPending}
            onAnswer={(text) => answering.mutate({ kind: 'text', text })}
          />
        ) : (
          <RefuseText
            isBusy={answering.isPending}
            onRefuse={(message) => answering.mutate({ kind: 'refuse', message })}
          />
        )}
      </div>
      {answering.error !== null && code !== 'interaction-settled' && (
        <FailureAlert error={answering.error} title="That answer did not arrive" />
      )}
      {code === 'interaction-settled' && (
        <Button size="xs" variant="default" onClick={settle}>
          It was settled elsewhere: look again
        </Button>
      )}
    </article>
  );
}

function AnswerText({
  isBusy,
  onAnswer,
}: {
  readonly isBusy: boolean;
  readonly onAnswer: (text: string) => void;
}) {
  const [text, setText] = useState('');
  return (
    <>
      <Textarea
        aria-label="Answer"
        placeholder="Answer"
        autosize
        minRows={1}
        maxRows={8}
        className="roost-grow"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Button loading={isBusy} disabled={text.trim() === ''} onClick={() => onAnswer(text)}>
        Answer
      </Button>
    </>
  );
}

function RefuseText({
  isBusy,
  onRefuse,
}: {
  readonly isBusy: boolean;
  readonly onRefuse: (message: string | null) => void;
}) {
  const [message, setMessage] = useState('');
  return (
    <>
      <TextInput
        size="xs"
        aria-label="Why it is refused"
        placeholder="Why not (told to the agent)"
        className="roost-grow"
        value={message}
        onChange={(event) => setMessage(event.currentTarget.value)}
      />
      <Button
        size="xs"
        variant="light"
        color="red"
        loading={isBusy}
        onClick={() => onRefuse(message.trim() === '' ? null : message)}
      >
        Refuse
      </Button>
    </>
  );
}

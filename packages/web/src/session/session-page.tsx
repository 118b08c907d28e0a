/** One session: its terminal or its conversation, what it asks, what it changed. */
import { lazy, Suspense, useEffect, useState } from 'react';
import { Anchor, Button, SegmentedControl } from '@mantine/core';
import { Link, useLocation } from 'wouter';
import type { SeenSession } from '@roost/client/browser';
import { addressOf, SessionId } from '@roost/protocol';
import { useHub, useMay, useMe, useNode, useView, useViewSoFar } from '../hub/hub-context.tsx';
import { useAct, useHubQuery } from '../hub/queries.ts';
import { Ago } from '../parts/ago.tsx';
import { ConfirmButton } from '../parts/confirm.tsx';
import { FailureAlert } from '../parts/failure-alert.tsx';
import { Empty, LoadingRows, Page } from '../parts/page.tsx';
import { isLive, waitsForPerson } from '../parts/session-words.ts';
import { SessionStatusWord } from '../parts/status.tsx';
import { sessionPath, workspacePath } from '../shell/pages.ts';
import { WorkspaceName } from '../worktrees/workspace-name.tsx';
import { Composer } from './composer.tsx';
import { EndedOutput } from './ended-output.tsx';
import { Interactions } from './interactions.tsx';
import { TimelinePane } from './timeline-pane.tsx';
import styles from './session-page.module.css';

const TerminalPane = lazy(() => import('./terminal-pane.tsx'));
const SessionChanges = lazy(() => import('./session-changes.tsx'));

export default function SessionPage({ id }: { readonly id: string }) {
  const sessionId = SessionId.safeParse(id).data;
  const isViewRead = useView() !== null;
  const viewSoFar = useViewSoFar();
  const seen = sessionId === undefined ? undefined : viewSoFar?.sessions.get(sessionId);
  if (seen !== undefined) return <ShownSession session={seen} />;
  if (sessionId === undefined) {
    return (
      <Page title="Session">
        <Empty title="That is no id of a session" />
      </Page>
    );
  }
  return <UnseenSession id={sessionId} isViewRead={isViewRead} />;
}

/** One that the lists do not hold: it may be new, or long over. */
function UnseenSession({ id, isViewRead }: { readonly id: SessionId; readonly isViewRead: boolean }) {
  const asked = useHubQuery('sessions.show', { sessionId: id }, { enabled: isViewRead });
  if (asked.data !== undefined) return <ShownSession session={asked.data} />;
  return (
    <Page title="Session">
      {asked.error === null ? (
        <LoadingRows />
      ) : (
        <FailureAlert
          error={asked.error}
          title="This session is not there"
          onRetry={() => void asked.refetch()}
        />
      )}
    </Page>
  );
}

function isSpokenWith({ protocol }: SeenSession): boolean {
  return protocol !== null && protocol !== undefined;
}

type Tab = 'terminal' | 'conversation' | 'output' | 'changes';
const TAB_LABELS: Readonly<Record<Tab, string>> = {
  terminal: 'Terminal',
  conversation: 'Conversation',
  output: 'Output',
  changes: 'Changes',
};

/** What there is of a session, the most telling first. */
function tabsOf(session: SeenSession, mayRead: boolean): Tab[] {
  const first: Tab[] =
    session.transport === 'pty'
      ? [isLive(session) ? 'terminal' : 'output']
      : isSpokenWith(session) && mayRead
        ? ['conversation']
        : ['output'];
  return mayRead ? [...first, 'changes'] : first;
}

function ShownSession({ session }: { readonly session: SeenSession }) {
  const mayAct = useMay('operator');
  const node = useNode(session.nodeId);
  const tabs = tabsOf(session, mayAct);
  const [chosen, setChosen] = useState<Tab | null>(null);
  const tab = chosen !== null && tabs.includes(chosen) ? chosen : (tabs[0] ?? 'output');
  useEffect(() => {
    document.title = `${session.name} · Roost`;
  }, [session.name]);
  useAcknowledged(session, mayAct);
  return (
    <div className={styles.page}>
      <div className={styles.head}>
        <h1 className={styles.title}>{session.name}</h1>
        <SessionStatusWord session={session} />
        <span className={styles.facts}>
          {session.provider} in{' '}
          <Anchor
            component={Link}
            href={workspacePath(session.nodeId, session.workspaceId)}
            inherit
            underline="always"
          >
            <WorkspaceName nodeId={session.nodeId} workspaceId={session.workspaceId} />
          </Anchor>{' '}
          on {node?.name ?? session.nodeId}, started <Ago since={session.createdAt} />
          {node !== undefined && node.link.state !== 'online' && ` (its node is ${node.link.state})`}
        </span>
        <div className={styles.tools}>
          {tabs.length > 1 && (
            <SegmentedControl
              size="xs"
              aria-label="What is shown"
              value={tab}
              onChange={setChosen}
              data={tabs.map((value) => ({ value, label: TAB_LABELS[value] }))}
            />
          )}
          {mayAct && <SessionActions session={session} />}
        </div>
      </div>
      {!mayAct && <LookOnly session={session} />}
      {mayAct && isSpokenWith(session) && isLive(session) && <Interactions session={session} />}
      <div className={styles.body}>
        <Suspense fallback={<LoadingRows height={120} />}>
          <TabBody session={session} tab={tab} />
        </Suspense>
        {tab === 'conversation' && mayAct && isLive(session) && <Composer session={session} />}
      </div>
    </div>
  );
}

/** Says what is left out, and why. */
function LookOnly({ session }: { readonly session: SeenSession }) {
  const { role } = useMe();
  if (!isLive(session)) return null;
  return (
    <div className={styles.facts} role="note">
      {waitsForPerson(session) && 'It waits for somebody who may answer. '}
      Your role is {role}: you see what it does; typing, answering and stopping need an operator.
    </div>
  );
}

function TabBody({ session, tab }: { readonly session: SeenSession; readonly tab: Tab }) {
  switch (tab) {
    case 'terminal':
      return <TerminalPane key={session.id} session={session} />;
    case 'conversation':
      return <TimelinePane key={session.id} session={session} />;
    case 'output':
      return <EndedOutput session={session} />;
    case 'changes':
      return (
        <div className={styles.scroll}>
          <SessionChanges session={session} />
        </div>
      );
  }
}

function SessionActions({ session }: { readonly session: SeenSession }) {
  const { api } = useHub();
  const [, navigate] = useLocation();
  const address = addressOf(session);
  const interrupting = useAct(() => api.node(session.nodeId, 'session.interrupt', address));
  const resuming = useAct(
    () => api.node(session.nodeId, 'session.resume', address),
    (resumed) => navigate(sessionPath(resumed.id)),
  );
  const error = interrupting.error ?? resuming.error;
  return (
    <>
      {isLive(session) ? (
        <>
          <Button
            size="xs"
            variant="default"
            loading={interrupting.isPending}
            onClick={() => interrupting.mutate(undefined)}
          >
            Interrupt
          </Button>
          {/* Apart from the other: a dialog that is open must never come to ask for something else. */}
          <ConfirmButton
            key="stop"
            label="Stop"
            title={`Stop ${session.name}?`}
            act={() => api.node(session.nodeId, 'session.stop', address)}
          >
            Every process of it is ended.{' '}
            {session.recordId !== null && 'Its record stays and may be resumed.'}
          </ConfirmButton>
        </>
      ) : (
        <>
          {session.recordId !== null && (
            <Button size="xs" loading={resuming.isPending} onClick={() => resuming.mutate(undefined)}>
              Resume
            </Button>
          )}
          <ConfirmButton
            key="remove"
            label="Remove"
            title={`Remove ${session.name}?`}
            act={() => api.node(session.nodeId, 'session.remove', address)}
            onDone={() => navigate('/')}
          >
            The session and its kept output are forgotten. What the provider keeps stays.
          </ConfirmButton>
        </>
      )}
      {error !== null && <FailureAlert error={error} title="That was not done" />}
    </>
  );
}

/** Looking at an agent that is done is having seen it. */
function useAcknowledged(session: SeenSession, mayAct: boolean): void {
  const { api } = useHub();
  const isDone = session.status === 'running' && session.activity?.state === 'done';
  const { nodeId, workspaceId, id, generation } = session;
  useEffect(() => {
    if (!isDone || !mayAct || document.visibilityState !== 'visible') return;
    // It stays done for the next who looks when this does not arrive.
    api
      .node(nodeId, 'session.acknowledge', { workspaceId, sessionId: id, generation })
      .catch(() => undefined);
  }, [api, isDone, mayAct, nodeId, workspaceId, id, generation]);
}

import { Link } from 'wouter';
import type { SeenSession } from '@roost/client/browser';
import type { HubNode } from '@roost/protocol';
import { useMay } from '../hub/hub-context.tsx';
import { Ago } from '../parts/ago.tsx';
import { isLive, waitsForPerson } from '../parts/session-words.ts';
import { SessionStatusWord } from '../parts/status.tsx';
import { sessionPath } from '../shell/pages.ts';
import { WorkspaceName } from '../worktrees/workspace-name.tsx';
import { ConversationThumbnail } from './conversation-thumbnail.tsx';
import { ScreenThumbnail } from './screen-thumbnail.tsx';
import styles from './board.module.css';

export function SessionCard({
  session,
  node,
  withScreen,
}: {
  readonly session: SeenSession;
  readonly node: HubNode | undefined;
  readonly withScreen: boolean;
}) {
  const isReachable = node?.link.state === 'online';
  const detail = session.activity?.detail ?? null;
  return (
    <Link
      href={sessionPath(session.id)}
      className={styles.card}
      data-session-card
      data-waits={waitsForPerson(session) || undefined}
      data-stale={(isLive(session) && !isReachable) || undefined}
    >
      <span className={styles.top}>
        <span className={styles.name}>{session.name}</span>
        <span className={styles.when}>
          <Ago since={session.endedAt ?? session.activity?.since ?? session.createdAt} />
        </span>
      </span>
      <SessionStatusWord session={session} />
      <span className={styles.facts}>
        {session.provider} · <WorkspaceName nodeId={session.nodeId} workspaceId={session.workspaceId} /> ·{' '}
        {node?.name ?? session.nodeId}
        {isLive(session) && !isReachable && ` (${node?.link.state ?? 'unknown'}: as last seen)`}
      </span>
      {detail !== null && <span className={`${styles.detail} roost-mono`}>{detail}</span>}
      {withScreen && isLive(session) && <Thumbnail session={session} isReachable={isReachable} />}
    </Link>
  );
}

function Thumbnail(shown: { readonly session: SeenSession; readonly isReachable: boolean }) {
  const mayRead = useMay('operator');
  const { transport, protocol } = shown.session;
  if (transport === 'pty') return <ScreenThumbnail {...shown} />;
  return mayRead && protocol !== null && protocol !== undefined ? <ConversationThumbnail {...shown} /> : null;
}

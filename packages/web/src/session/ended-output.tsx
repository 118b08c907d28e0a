/** What a session has left: the last screen of a terminal, the newest output of a pipe. */
import type { SeenSession } from '@roost/client/browser';
import { useNodeQuery } from '../hub/queries.ts';
import { FailureAlert } from '../parts/failure-alert.tsx';
import { Empty, LoadingRows } from '../parts/page.tsx';
import { isLive } from '../parts/session-words.ts';
import styles from './terminal-pane.module.css';

/** Lines above the last screen, and bytes of output, that are read. */
const SCROLLBACK_LINES = 2_000;
const OUTPUT_BYTES = 128 * 1024;
const LOOK_MS = 3_000;

export function EndedOutput({ session }: { readonly session: SeenSession }) {
  return session.transport === 'pty' ? <LastScreen session={session} /> : <PipeOutput session={session} />;
}

function LastScreen({ session }: { readonly session: SeenSession }) {
  const screen = useNodeQuery(session.nodeId, 'session.readScreen', {
    sessionId: session.id,
    scrollback: SCROLLBACK_LINES,
  });
  return (
    <Text text={screen.data?.lines.join('\n')} error={screen.error} onRetry={() => void screen.refetch()} />
  );
}

function PipeOutput({ session }: { readonly session: SeenSession }) {
  const output = useNodeQuery(
    session.nodeId,
    'session.readOutput',
    { sessionId: session.id, stream: 'stdout', offset: -OUTPUT_BYTES, maxBytes: OUTPUT_BYTES },
    { refetchInterval: isLive(session) ? LOOK_MS : false },
  );
  return (
    <Text
      text={output.data === undefined ? undefined : textOfBase64(output.data.base64)}
      error={output.error}
      onRetry={() => void output.refetch()}
    />
  );
}

function Text({
  text,
  error,
  onRetry,
}: {
  readonly text: string | undefined;
  readonly error: Error | null;
  readonly onRetry: () => void;
}) {
  if (text === undefined && error !== null)
    return <FailureAlert error={error} title="Its output could not be read" onRetry={onRetry} />;
  if (text === undefined) return <LoadingRows height={120} />;
  if (text.trim() === '') return <Empty title="It left no output" />;
  return (
    <div className={styles.pane}>
      <pre className={styles.last} tabIndex={0} aria-label="Output">
        {text}
      </pre>
    </div>
  );
}

function textOfBase64(base64: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (unit) => unit.charCodeAt(0)));
}

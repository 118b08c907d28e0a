/** A file as it is on the machine, to be read and edited; what was changed there meanwhile is never overwritten unseen. */
import { useEffect, useState } from 'react';
import { Button, Group } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { FileText, type FileContent, type FileRevision, type RepositoryPath } from '@roost/protocol';
import { useHub, useMay } from '../hub/hub-context.tsx';
import { nodeKey, useAct, useNodeQuery } from '../hub/queries.ts';
import { FailureAlert } from '../parts/failure-alert.tsx';
import { Empty, LoadingRows } from '../parts/page.tsx';
import { bytesText } from '../parts/quantities.ts';
import { ChangedLines } from '../session/changed-lines.tsx';
import { changedLines } from '../session/tool-change.ts';
import { CodeEditor } from './code-editor.tsx';
import type { Place } from './workspace-page.tsx';
import styles from './workspace.module.css';

type TextContent = Extract<FileContent, { kind: 'text' }>;

export default function OpenFile({
  place: { nodeId, workspaceId },
  path,
  onChanged,
}: {
  readonly place: Place;
  readonly path: RepositoryPath;
  /** Whether there is something that is not saved. */
  readonly onChanged: (isChanged: boolean) => void;
}) {
  // What is being edited is not replaced behind one's back: it is read once, and again when somebody says so.
  const file = useNodeQuery(
    nodeId,
    'workspace.readFile',
    { workspaceId, path },
    { staleTime: Infinity, gcTime: 0 },
  );
  if (file.data === undefined) {
    return file.error === null ? (
      <LoadingRows />
    ) : (
      <FailureAlert
        error={file.error}
        title={`${path} could not be read`}
        onRetry={() => void file.refetch()}
      />
    );
  }
  const { content } = file.data;
  switch (content.kind) {
    case 'binary':
      return <Empty title={`${path} is binary`}>{bytesText(content.byteLength)}</Empty>;
    case 'too-large':
      return (
        <Empty title={`${path} is too large to be shown`}>More than {bytesText(content.limitBytes)}</Empty>
      );
    case 'text':
      return <TextFile place={{ nodeId, workspaceId }} path={path} content={content} onChanged={onChanged} />;
  }
}

function TextFile({
  place: { nodeId, workspaceId },
  path,
  content,
  onChanged,
}: {
  readonly place: Place;
  readonly path: RepositoryPath;
  readonly content: TextContent;
  readonly onChanged: (isChanged: boolean) => void;
}) {
  const { api } = useHub();
  const queries = useQueryClient();
  const mayWrite = useMay('operator');
  /** What the editor began with: another object lets it begin anew. */
  const [begun, setBegun] = useState(content);
  /** What the machine has, as far as is known, and the revision that a save expects. */
  const [base, setBase] = useState<Pick<TextContent, 'text' | 'revision'>>(content);
  const [text, setText] = useState(content.text);
  const [theirs, setTheirs] = useState<TextContent | null>(null);
  const isChanged = text !== base.text;
  const readKey = nodeKey(nodeId, 'workspace.readFile', { workspaceId, path });
  useUnsaved(isChanged, onChanged);
  const readAgain = async (): Promise<FileContent> => {
    const read = await api.node(nodeId, 'workspace.readFile', { workspaceId, path });
    queries.setQueryData(readKey, read);
    return read.content;
  };
  const saving = useAct(
    async ({ expected }: { expected: FileRevision }) => {
      const written = text;
      const { revision, byteLength } = await api.node(nodeId, 'workspace.writeFile', {
        workspaceId,
        path,
        expectedRevision: expected,
        text: written,
      });
      return { written, revision, byteLength };
    },
    ({ written, ...facts }) => {
      setBase({ text: written, revision: facts.revision });
      setTheirs(null);
      // Whoever opens it next sees what was saved.
      const saved: FileContent = { kind: 'text', text: written, ...facts };
      queries.setQueryData(readKey, { workspaceId, path, content: saved });
      void queries.invalidateQueries({ queryKey: nodeKey(nodeId, 'git.status') });
    },
  );
  const comparing = useAct(readAgain, (read) => setTheirs(read.kind === 'text' ? read : null));
  const take = (taken: TextContent): void => {
    setBegun(taken);
    setBase(taken);
    setText(taken.text);
    setTheirs(null);
    saving.reset();
  };
  const isConflict = saving.error?.failure.code === 'repository-file-revision-conflict';
  const isTooLong = !FileText.safeParse(text).success;
  const save = (): void => {
    if (mayWrite && isChanged && !saving.isPending && !isTooLong) saving.mutate({ expected: base.revision });
  };
  return (
    <div className={styles.file}>
      <div className={styles.fileBar}>
        <span className={`${styles.path} roost-mono`}>{path}</span>
        <span className={styles.cut} aria-live="polite">
          {isTooLong ? 'too long to be saved' : isChanged ? 'not saved' : ''}
        </span>
        {mayWrite && (
          <span className={styles.fileTools}>
            <Button size="xs" disabled={!isChanged || isTooLong} loading={saving.isPending} onClick={save}>
              Save
            </Button>
          </span>
        )}
      </div>
      {saving.error !== null && !isConflict && <FailureAlert error={saving.error} title="Not saved" />}
      {isConflict && (
        <div className={styles.conflict} role="alert">
          <div>{path} was changed on the machine since it was read. Nothing was overwritten.</div>
          {comparing.error !== null && (
            <FailureAlert error={comparing.error} title="It could not be read again" />
          )}
          {theirs !== null && <Difference before={theirs.text} after={text} />}
          <Group gap="xs">
            {theirs === null ? (
              <Button
                size="xs"
                variant="default"
                loading={comparing.isPending}
                onClick={() => comparing.mutate(undefined)}
              >
                Show what is different
              </Button>
            ) : (
              <>
                <Button size="xs" variant="default" onClick={() => take(theirs)}>
                  Take theirs, drop mine
                </Button>
                <Button
                  size="xs"
                  color="red"
                  variant="light"
                  loading={saving.isPending}
                  onClick={() => saving.mutate({ expected: theirs.revision })}
                >
                  Write mine over it
                </Button>
              </>
            )}
          </Group>
        </div>
      )}
      <div className={styles.editor}>
        <CodeEditor path={path} begun={begun} isReadOnly={!mayWrite} onChange={setText} onSave={save} />
      </div>
    </div>
  );
}

function Difference({ before, after }: { readonly before: string; readonly after: string }) {
  return (
    <pre className={styles.conflictText} tabIndex={0} aria-label="Theirs without, mine with plus">
      <ChangedLines lines={changedLines(before, after)} />
    </pre>
  );
}

function useUnsaved(isChanged: boolean, onChanged: (isChanged: boolean) => void): void {
  useEffect(() => {
    onChanged(isChanged);
    if (!isChanged) return;
    const onLeave = (event: BeforeUnloadEvent): void => event.preventDefault();
    window.addEventListener('beforeunload', onLeave);
    return () => window.removeEventListener('beforeunload', onLeave);
  }, [isChanged, onChanged]);
}

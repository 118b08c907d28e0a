/** What changed, file by file, side by side or in one column. */
import { useMemo, useState, type ReactNode } from 'react';
import { SegmentedControl } from '@mantine/core';
import { useLocalStorage, useMediaQuery } from '@mantine/hooks';
import { Diff, Hunk, markEdits, parseDiff, tokenize, type FileData } from 'react-diff-view';
import 'react-diff-view/style/index.css';
import type { GitDiff, GitDiffFile } from '@roost/protocol';
import { Empty } from '../parts/page.tsx';
import { unquoted } from './quoted-path.ts';
import styles from './diff.module.css';

/** Files that are open at first, and changed lines of a file within which edits are marked and it opens by itself. */
const OPEN_FILES = 12;
const MARKED_LINES_MAX = 1_500;

type Look = 'split' | 'unified';

export function DiffView({
  diff,
  note,
  tools,
}: {
  readonly diff: GitDiff;
  readonly note?: ReactNode;
  readonly tools?: ReactNode;
}) {
  const isWide = useMediaQuery('(min-width: 1000px)', true);
  const [wanted, setWanted] = useLocalStorage<Look>({ key: 'roost.diff', defaultValue: 'split' });
  const look = isWide ? wanted : 'unified';
  const files = useMemo(() => parsedFiles(diff.patch), [diff.patch]);
  const added = sum(diff.files, 'additions');
  const removed = sum(diff.files, 'deletions');
  return (
    <div className={styles.diff}>
      <div className={styles.bar}>
        <span>
          {diff.files.length}
          {diff.filesCut && '+'} {diff.files.length === 1 ? 'file' : 'files'},{' '}
          <span className={styles.added}>+{added}</span> <span className={styles.removed}>−{removed}</span>{' '}
          {note}
        </span>
        <span className={styles.tools}>
          {tools}
          {isWide && (
            <SegmentedControl
              size="xs"
              aria-label="How differences are shown"
              value={look}
              onChange={setWanted}
              data={[
                { value: 'split', label: 'Side by side' },
                { value: 'unified', label: 'Unified' },
              ]}
            />
          )}
        </span>
      </div>
      {(diff.patchCut || diff.filesCut) && (
        <div className={styles.nothing}>There is more than is shown: the text was cut at its bound.</div>
      )}
      {diff.files.length === 0 && <Empty title="Nothing is different" />}
      {diff.files.map((file, index) => (
        <ChangedFile
          key={file.path}
          file={file}
          parsed={files.get(file.path)}
          look={look}
          isOpenAtFirst={index < OPEN_FILES && linesOf(file) <= MARKED_LINES_MAX}
        />
      ))}
    </div>
  );
}

function ChangedFile({
  file,
  parsed,
  look,
  isOpenAtFirst,
}: {
  readonly file: GitDiffFile;
  readonly parsed: FileData | undefined;
  readonly look: Look;
  readonly isOpenAtFirst: boolean;
}) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  return (
    <details className={styles.file} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span className="roost-mono">
          {file.previousPath !== null && file.previousPath !== file.path && `${file.previousPath} → `}
          {file.path}
        </span>
        <span className={styles.counts}>
          {file.status !== 'modified' && <span>{file.status}</span>}
          {file.additions !== null && <span className={styles.added}>+{file.additions}</span>}
          {file.deletions !== null && <span className={styles.removed}>−{file.deletions}</span>}
        </span>
      </summary>
      {isOpen && <FileText file={file} parsed={parsed} look={look} />}
    </details>
  );
}

function FileText({
  file,
  parsed,
  look,
}: {
  readonly file: GitDiffFile;
  readonly parsed: FileData | undefined;
  readonly look: Look;
}) {
  const tokens = useMemo(
    () =>
      parsed === undefined || linesOf(file) > MARKED_LINES_MAX
        ? null
        : tokenize(parsed.hunks, { enhancers: [markEdits(parsed.hunks, { type: 'block' })] }),
    [parsed, file],
  );
  if (file.binary) return <div className={styles.nothing}>A binary file.</div>;
  if (parsed === undefined || parsed.hunks.length === 0)
    return (
      <div className={styles.nothing}>
        {parsed === undefined ? 'Its text was cut off.' : 'No line is different.'}
      </div>
    );
  return (
    <div className={styles.text} role="region" aria-label={`Differences of ${file.path}`} tabIndex={0}>
      <Diff viewType={look} diffType={parsed.type} hunks={parsed.hunks} tokens={tokens}>
        {(hunks) => hunks.map((hunk) => <Hunk key={hunk.content} hunk={hunk} />)}
      </Diff>
    </div>
  );
}

function parsedFiles(patch: string): ReadonlyMap<string, FileData> {
  if (patch === '') return new Map();
  const files = parseDiff(patch, { nearbySequences: 'zip' });
  return new Map(files.map((file) => [unquoted(file.type === 'delete' ? file.oldPath : file.newPath), file]));
}

function linesOf({ additions, deletions }: GitDiffFile): number {
  return (additions ?? 0) + (deletions ?? 0);
}

function sum(files: readonly GitDiffFile[], of: 'additions' | 'deletions'): number {
  return files.reduce((total, file) => total + (file[of] ?? 0), 0);
}

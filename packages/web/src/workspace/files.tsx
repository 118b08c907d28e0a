import { lazy, Suspense, useMemo, useState } from 'react';
import {
  Button,
  TextInput,
  Tree,
  useTree,
  type RenderTreeNodePayload,
  type TreeNodeData,
} from '@mantine/core';
import { RepositoryPath, type TreeCut, type WorkspaceTree } from '@roost/protocol';
import { ChevronIcon, FileIcon, FolderIcon, SearchIcon } from '../parts/icons.tsx';
import { Empty, LoadingRows } from '../parts/page.tsx';
import { fileTree, matchingEntries, type FileNode } from './file-tree.ts';
import type { Place } from './workspace-page.tsx';
import styles from './workspace.module.css';

const OpenFile = lazy(() => import('./open-file.tsx'));

const CUTS: Readonly<Record<TreeCut, string>> = {
  depth: 'deeper directories',
  entries: 'entries beyond the bound',
  visits: 'entries beyond the bound of looking',
  time: 'what took too long to read',
  unreadable: 'what could not be read',
  names: 'names that are no text',
};

export function Files({
  place,
  tree,
  isReading,
  onReadAgain,
}: {
  readonly place: Place;
  readonly tree: WorkspaceTree;
  readonly isReading: boolean;
  readonly onReadAgain: () => void;
}) {
  const [search, setSearch] = useState('');
  const [path, setPath] = useState<RepositoryPath | null>(null);
  const [isChanged, setChanged] = useState(false);
  const nodes = useMemo(() => fileTree(matchingEntries(tree.entries, search)), [tree.entries, search]);
  const choose = (next: string): void => {
    const parsed = RepositoryPath.safeParse(next).data;
    if (parsed === undefined || parsed === path) return;
    if (isChanged && !window.confirm('What was changed in the open file is not saved. Leave it?')) return;
    setChanged(false);
    setPath(parsed);
  };
  return (
    <div className={styles.files}>
      <div className={styles.tree}>
        <TextInput
          data-search
          size="xs"
          aria-label="Search files"
          placeholder="Search"
          leftSection={<SearchIcon />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <div className={styles.treeList}>
          {nodes.length === 0 ? (
            <div className={styles.cut}>
              {tree.entries.length === 0 ? 'It is empty.' : 'Nothing is called that.'}
            </div>
          ) : (
            <FileList key={search} nodes={nodes} chosen={path} isWhole={search !== ''} onChoose={choose} />
          )}
        </div>
        {tree.cuts.length > 0 && (
          <div className={styles.cut}>Left out: {tree.cuts.map((cut) => CUTS[cut]).join(', ')}.</div>
        )}
        <Button size="compact-xs" variant="subtle" loading={isReading} onClick={onReadAgain}>
          Read again
        </Button>
      </div>
      {path === null ? (
        <Empty title="No file is open">Choose one to read or edit it.</Empty>
      ) : (
        <Suspense fallback={<LoadingRows />}>
          <OpenFile key={path} place={place} path={path} onChanged={setChanged} />
        </Suspense>
      )}
    </div>
  );
}

function FileList({
  nodes,
  chosen,
  isWhole,
  onChoose,
}: {
  readonly nodes: readonly FileNode[];
  readonly chosen: string | null;
  /** Every directory is open. */
  readonly isWhole: boolean;
  readonly onChoose: (path: string) => void;
}) {
  const data = useMemo(() => nodes.map(dataOf), [nodes]);
  const tree = useTree({
    initialExpandedState: isWhole ? Object.fromEntries(directoriesOf(nodes).map((path) => [path, true])) : {},
  });
  return (
    <Tree
      data={data}
      tree={tree}
      levelOffset={14}
      renderNode={(payload) => <FileLine {...payload} chosen={chosen} onChoose={onChoose} />}
    />
  );
}

function FileLine({
  node,
  expanded,
  hasChildren,
  elementProps,
  chosen,
  onChoose,
}: RenderTreeNodePayload & {
  readonly chosen: string | null;
  readonly onChoose: (path: string) => void;
}) {
  const kind: unknown = node.nodeProps?.kind;
  return (
    <div
      {...elementProps}
      className={`${elementProps.className} ${styles.leaf}`}
      data-chosen={node.value === chosen || undefined}
      onClick={(event) => {
        elementProps.onClick(event);
        if (kind === 'file') onChoose(node.value);
      }}
    >
      {hasChildren ? (
        <span className={expanded ? styles.open : undefined}>
          <ChevronIcon />
        </span>
      ) : kind === 'directory' ? (
        <FolderIcon />
      ) : (
        <FileIcon />
      )}
      {node.label}
    </div>
  );
}

function dataOf(node: FileNode): TreeNodeData {
  const note = node.skipped ? ' (not looked into)' : node.kind === 'link' ? ' (link)' : '';
  return {
    value: node.path,
    label: `${node.name}${node.kind === 'directory' ? '/' : ''}${note}`,
    nodeProps: { kind: node.kind },
    ...(node.children.length === 0 ? {} : { children: node.children.map(dataOf) }),
  };
}

function directoriesOf(nodes: readonly FileNode[]): string[] {
  return nodes.flatMap((node) =>
    node.children.length === 0 ? [] : [node.path, ...directoriesOf(node.children)],
  );
}

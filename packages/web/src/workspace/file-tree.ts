// The flat entries of an inspection as a tree: pure.
import type { TreeEntry } from '@roost/protocol';

export interface FileNode {
  /** Path in the workspace. */
  readonly path: string;
  readonly name: string;
  readonly kind: TreeEntry['kind'];
  /** What is in it is not shown. */
  readonly skipped: boolean;
  readonly children: readonly FileNode[];
}

/** Directories first, then by name. An entry whose directory is not among them stands at the top by its whole path. */
export function fileTree(entries: readonly TreeEntry[]): FileNode[] {
  const children = new Map<string, TreeEntry[]>();
  const directories = new Set<string>(
    entries.filter(({ kind }) => kind === 'directory').map(({ path }) => path),
  );
  for (const entry of entries) {
    const parent = parentOf(entry.path);
    const key = parent !== '' && directories.has(parent) ? parent : '';
    children.set(key, [...(children.get(key) ?? []), entry]);
  }
  const nodesIn = (directory: string): FileNode[] =>
    (children.get(directory) ?? [])
      .map((entry) => ({
        path: entry.path,
        name: directory === '' ? entry.path : entry.path.slice(directory.length + 1),
        kind: entry.kind,
        skipped: entry.skipped,
        children: entry.kind === 'directory' ? nodesIn(entry.path) : [],
      }))
      .toSorted((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
  return nodesIn('');
}

/** Entries whose path holds the text, with the directories that lead to them; letters of either case. */
export function matchingEntries(entries: readonly TreeEntry[], search: string): readonly TreeEntry[] {
  const text = search.trim().toLowerCase();
  if (text === '') return entries;
  const kept = new Set<string>();
  for (const { path } of entries) {
    if (!path.toLowerCase().includes(text)) continue;
    for (let at: string = path; at !== ''; at = parentOf(at)) kept.add(at);
  }
  return entries.filter(({ path }) => kept.has(path));
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function rank({ kind }: Pick<FileNode, 'kind'>): number {
  return kind === 'directory' ? 0 : 1;
}

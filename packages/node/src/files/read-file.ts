// Reading one file of a workspace, whole or not at all.
import type { FileContent } from '@roost/protocol';
import { openBeneath } from './beneath.ts';
import { readContent } from './content.ts';
import type { OpenParent } from './parent-directory.ts';

/** @throws PathFault. */
export async function readFile(root: string, path: string, openParent?: OpenParent): Promise<FileContent> {
  await using entry = await openBeneath(root, path, openParent);
  await using file = await entry.parent.openFile(entry.name, 'read');
  const content = await readContent(file);
  // What was moved out of the workspace meanwhile is not told.
  await entry.parent.requireInPlace();
  return content;
}

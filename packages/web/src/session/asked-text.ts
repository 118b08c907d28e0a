import type { Interaction } from '@roost/protocol';

/** What is asked, in a line: by the tool, where the agent's own title does not name it. */
export function askedText({ tool, title }: Pick<Interaction, 'tool' | 'title'>): string {
  return tool === null || title.includes(tool) ? title : `${tool} ${title}`;
}

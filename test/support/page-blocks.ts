/** The fenced blocks of a page of docs/, for tests that run them as they stand. */
import { readFileSync } from 'node:fs';

export interface PageBlock {
  /** Of the section that it is in. */
  readonly heading: string;
  readonly code: string;
}

/** `page`: its name in docs/. In their order. */
export function pageBlocks(page: string, language: string): PageBlock[] {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8');
  return text.split(/^#+ /m).flatMap((section) => {
    const heading = section.split('\n', 1)[0] ?? '';
    return [...section.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, of, code = '']) =>
      of === language ? [{ heading, code }] : [],
    );
  });
}

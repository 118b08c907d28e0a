// The end of a conversation in a few lines: pure.
import type { Timeline, TimelineItem } from '../session/timeline-model.ts';
import { toolSubject } from '../session/tool-change.ts';

/** Things that are told, and letters of each. */
const THINGS = 3;
const LETTERS = 160;

/** The newest last. */
export function lastWords({ items }: Timeline): string[] {
  return items
    .map(wordsOf)
    .filter((text) => text !== '')
    .slice(-THINGS)
    .map((text) => (text.length > LETTERS ? `${text.slice(0, LETTERS)} …` : text));
}

function wordsOf(item: TimelineItem): string {
  switch (item.kind) {
    case 'prompt':
      return item.text === null ? '' : `› ${onOneLine(item.text)}`;
    case 'message':
      return onOneLine(item.text);
    case 'tool':
      return `${item.tool} ${onOneLine(item.title ?? shortened(toolSubject(item.input) ?? ''))}`;
    case 'turn-end':
      return item.fault ?? '';
    case 'note':
      return item.level === 'info' ? '' : onOneLine(item.text);
    case 'thinking':
    case 'request':
    case 'plan':
      return '';
  }
}

/** Of a path, its last name. */
function shortened(subject: string): string {
  return /^\S*\/\S*$/.test(subject) ? subject.slice(subject.lastIndexOf('/') + 1) : subject;
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

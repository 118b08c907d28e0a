import { HighlightStyle } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { Extension } from '@codemirror/state';

/** In the colours of the page, whose variables reach into the shadow root. */
export function editorTheme(isDark: boolean): Extension {
  return EditorView.theme(
    {
      '&': {
        height: '100%',
        fontSize: '13px',
        color: 'var(--mantine-color-text)',
        backgroundColor: 'var(--roost-card)',
      },
      '&.cm-focused': { outline: '2px solid var(--mantine-primary-color-filled)', outlineOffset: '-2px' },
      '.cm-scroller': { fontFamily: 'var(--roost-mono)', lineHeight: '1.5' },
      '.cm-gutters': {
        backgroundColor: 'var(--roost-sunken)',
        color: 'var(--roost-dimmed)',
        border: 'none',
      },
      '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--roost-busy) 7%, transparent)' },
      '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
      '.cm-panels': { backgroundColor: 'var(--roost-sunken)', color: 'var(--mantine-color-text)' },
    },
    { dark: isDark },
  );
}

export const lightHighlight = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: '#a0111f' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: '#0a3069' },
  { tag: [tags.comment, tags.meta], color: '#57606a', fontStyle: 'italic' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: '#0550ae' },
  { tag: [tags.typeName, tags.className, tags.tagName], color: '#116329' },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: '#6639ba' },
  { tag: [tags.propertyName, tags.attributeName], color: '#953800' },
  { tag: tags.heading, fontWeight: 'bold', color: '#0550ae' },
  { tag: tags.link, textDecoration: 'underline' },
]);

export const darkHighlight = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: '#ff7b72' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: '#a5d6ff' },
  { tag: [tags.comment, tags.meta], color: '#9aa4ae', fontStyle: 'italic' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: '#79c0ff' },
  { tag: [tags.typeName, tags.className, tags.tagName], color: '#7ee787' },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: '#d2a8ff' },
  { tag: [tags.propertyName, tags.attributeName], color: '#ffa657' },
  { tag: tags.heading, fontWeight: 'bold', color: '#79c0ff' },
  { tag: tags.link, textDecoration: 'underline' },
]);

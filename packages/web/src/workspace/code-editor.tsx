/** A text in an editor. In a shadow root: there, the editor makes its styles as scripts may, and writes no style tag. */
import { useEffect, useRef } from 'react';
import { useComputedColorScheme } from '@mantine/core';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { bracketMatching, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { languageOf } from './languages.ts';
import { darkHighlight, editorTheme, lightHighlight } from './editor-theme.ts';

export interface CodeEditorProps {
  readonly path: string;
  /** What it begins with; another object begins anew. */
  readonly begun: { readonly text: string };
  readonly isReadOnly: boolean;
  readonly onChange: (text: string) => void;
  readonly onSave: () => void;
}

export function CodeEditor({ path, begun, isReadOnly, onChange, onSave }: CodeEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');
  const latest = useRef({ onChange, onSave });
  useEffect(() => {
    latest.current = { onChange, onSave };
  });
  useEffect(() => {
    if (place.current === null) return;
    const root = place.current.shadowRoot ?? place.current.attachShadow({ mode: 'open' });
    const language = new Compartment();
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: begun.text,
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          highlightActiveLine(),
          highlightSelectionMatches(),
          search({ top: true }),
          syntaxHighlighting(scheme === 'dark' ? darkHighlight : lightHighlight),
          editorTheme(scheme === 'dark'),
          language.of([]),
          EditorState.readOnly.of(isReadOnly),
          EditorView.contentAttributes.of({ 'aria-label': `Text of ${path}` }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onChange(update.state.doc.toString());
          }),
          keymap.of([
            {
              key: 'Mod-s',
              preventDefault: true,
              run: () => {
                latest.current.onSave();
                return true;
              },
            },
            ...defaultKeymap,
            ...historyKeymap,
            ...searchKeymap,
            indentWithTab,
          ]),
        ],
      }),
    });
    let isOver = false;
    void languageOf(path).then((support) => {
      if (!isOver && support !== null) editor.dispatch({ effects: language.reconfigure(support) });
    });
    return () => {
      isOver = true;
      editor.destroy();
    };
  }, [path, begun, isReadOnly, scheme]);
  return <div ref={place} data-editor className="roost-editor" />;
}

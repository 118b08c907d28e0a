import type { LanguageSupport } from '@codemirror/language';

type Load = () => Promise<LanguageSupport>;

const javascript =
  (options: { readonly jsx?: boolean; readonly typescript?: boolean }): Load =>
  async () =>
    (await import('@codemirror/lang-javascript')).javascript(options);
const json: Load = async () => (await import('@codemirror/lang-json')).json();
const yaml: Load = async () => (await import('@codemirror/lang-yaml')).yaml();
const html: Load = async () => (await import('@codemirror/lang-html')).html();
const markdown: Load = async () => (await import('@codemirror/lang-markdown')).markdown();

const BY_ENDING: Readonly<Record<string, Load>> = {
  js: javascript({}),
  mjs: javascript({}),
  cjs: javascript({}),
  jsx: javascript({ jsx: true }),
  ts: javascript({ typescript: true }),
  mts: javascript({ typescript: true }),
  tsx: javascript({ jsx: true, typescript: true }),
  json,
  yaml,
  yml: yaml,
  html,
  htm: html,
  md: markdown,
  css: async () => (await import('@codemirror/lang-css')).css(),
  py: async () => (await import('@codemirror/lang-python')).python(),
  rs: async () => (await import('@codemirror/lang-rust')).rust(),
  go: async () => (await import('@codemirror/lang-go')).go(),
};

/** Colours for a file by the ending of its name; null: there are none for it. */
export async function languageOf(path: string): Promise<LanguageSupport | null> {
  const ending = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase();
  const load = ending === undefined ? undefined : BY_ENDING[ending];
  return load === undefined ? null : load();
}

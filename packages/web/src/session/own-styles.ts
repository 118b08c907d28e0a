/**
 * The terminal writes its sizes and colours into style tags, which the hub's policy forbids. It is given a document whose style tags are none:
 * what is written into one becomes a style sheet of the page, as scripts may make them.
 */

/** A document for `documentOverride` of the terminal, and how to take its style sheets out of the page again. */
export function documentWithOwnStyles(page: Document): { readonly document: Document; dispose(): void } {
  const sheets = new Set<CSSStyleSheet>();
  const makeStyle = (): HTMLElement => {
    const sheet = new CSSStyleSheet();
    sheets.add(sheet);
    page.adoptedStyleSheets = [...page.adoptedStyleSheets, sheet];
    const element = page.createElement('span');
    element.hidden = true;
    Object.defineProperty(element, 'textContent', { set: (css: string) => void sheet.replaceSync(css) });
    return element;
  };
  const document = new Proxy(page, {
    get: (target, name) => {
      if (name === 'createElement')
        return (tag: string) => (tag === 'style' ? makeStyle() : target.createElement(tag));
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
    set: (target, name, value) => Reflect.set(target, name, value, target),
  });
  return {
    document,
    dispose: () => {
      page.adoptedStyleSheets = page.adoptedStyleSheets.filter((sheet) => !sheets.has(sheet));
    },
  };
}

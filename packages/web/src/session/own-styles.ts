/**
 * The terminal writes its sizes and colours into style tags, which the hub's policy forbids. It is given a document whose style tags are none:
 * what is written into one becomes a style sheet of the page, as scripts may make them.
 */
export class OwnStyles {
  /** For `documentOverride` of the terminal. */
  readonly document: Document;
  readonly #page: Document;
  readonly #sheets = new Set<CSSStyleSheet>();

  constructor(page: Document) {
    this.#page = page;
    this.document = new Proxy(page, {
      get: (target, name) => {
        if (name === 'createElement') return (tag: string) => this.#createElement(tag);
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
      set: (target, name, value) => Reflect.set(target, name, value, target),
    });
  }

  /** For what asks the page's own document all the same (xterm.js 6.0: its viewport, when it is opened). */
  during(call: () => void): void {
    Object.defineProperty(this.#page, 'createElement', {
      configurable: true,
      value: (tag: string) => this.#createElement(tag),
    });
    try {
      call();
    } finally {
      // That of its prototype again.
      Reflect.deleteProperty(this.#page, 'createElement');
    }
  }

  /** Takes the style sheets out of the page again. */
  dispose(): void {
    this.#page.adoptedStyleSheets = this.#page.adoptedStyleSheets.filter((sheet) => !this.#sheets.has(sheet));
  }

  #createElement(tag: string): HTMLElement {
    // The other way to make elements, which is left alone.
    const create = (name: string) => this.#page.createElementNS('http://www.w3.org/1999/xhtml', name);
    if (tag !== 'style') return create(tag);
    const sheet = new CSSStyleSheet();
    this.#sheets.add(sheet);
    this.#page.adoptedStyleSheets = [...this.#page.adoptedStyleSheets, sheet];
    const element = create('span');
    element.hidden = true;
    Object.defineProperty(element, 'textContent', {
      set: (css: string) => {
        sheet.replaceSync(css);
      },
    });
    return element;
  }
}

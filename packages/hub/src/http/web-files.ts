// The files of the web UI, read once at the start: what is answered is one of them or nothing, whatever path is asked for, and an upgrade
// that replaces them meanwhile mixes nothing. They take a few megabytes.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';

/** Bytes of all files together: more is no web UI. */
const WEB_BYTES_MAX = 64 * 1024 * 1024;
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
  '.txt': 'text/plain; charset=utf-8',
};

export interface WebFile {
  readonly content: Buffer;
  /** The same packed by gzip; null: it is served as it is. */
  readonly packed: Buffer | null;
  readonly type: string;
  readonly etag: string;
  /** Its name changes with its content. */
  readonly isImmutable: boolean;
}

export class WebFiles {
  readonly #files: ReadonlyMap<string, WebFile>;

  constructor(files: ReadonlyMap<string, WebFile>) {
    this.#files = files;
  }

  /** A directory that is not there holds nothing. */
  static read(directory: string): WebFiles {
    const files = new Map<string, WebFile>();
    const paths = new Set(filesIn(directory));
    let bytes = 0;
    for (const path of paths) {
      const name = `/${relative(directory, path).split(sep).join('/')}`;
      const type = TYPES[extname(path)];
      bytes += statSync(path).size;
      if (type === undefined || bytes > WEB_BYTES_MAX) continue;
      const content = readFileSync(path);
      const etag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
      const packed = paths.has(`${path}.gz`) ? readFileSync(`${path}.gz`) : null;
      files.set(name, { content, packed, type, etag, isImmutable: name.startsWith('/assets/') });
    }
    return new WebFiles(files);
  }

  /** `path`: without query. A page for what looks like a place within the UI; null for what looks like a file and is none. */
  find(path: string): WebFile | null {
    const file = this.#files.get(path);
    if (file !== undefined) return file;
    const isPlace = !path.split('/').at(-1)?.includes('.') && !path.includes('%') && !path.includes('\\');
    return isPlace ? (this.#files.get('/index.html') ?? null) : null;
  }
}

function filesIn(directory: string): string[] {
  try {
    return readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name));
  } catch {
    return [];
  }
}

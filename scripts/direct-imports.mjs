// A library whose package is one list of everything it has: an import of a name becomes one of the file that defines the name. The bundler
// would otherwise give the first part of the program whatever any part uses.
import { readFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const IMPORTS = /import \{([^}]*)\} from "([^"]+)"/g;

const LOADERS = { '.ts': 'ts', '.tsx': 'tsx', '.mjs': 'js' };

/** `sources`: of files whose imports are to be direct. */
export function directImports(packages, sources) {
  const names = packages.join('|').replaceAll('/', '\\/');
  const statement = new RegExp(`import \\{([^}]*)\\} from ["'](${names})["'];`, 'g');
  return {
    name: 'direct-imports',
    async setup(builder) {
      const files = new Map(await Promise.all(packages.map(async (name) => [name, await filesOf(name)])));
      builder.onLoad({ filter: sources }, async ({ path }) => {
        const text = await readFile(path, 'utf8');
        const contents = text.replace(statement, (_, list, name) =>
          direct(wordsOf(list), name, files.get(name)),
        );
        return { contents, loader: LOADERS[extname(path)] };
      });
    },
  };
}

function direct(words, name, files) {
  return words
    .filter((word) => !word.startsWith('type '))
    .map((word) => {
      const file = files.get(word);
      if (file === undefined) throw new Error(`${name} has no ${word}`);
      return `import { ${word} } from ${JSON.stringify(file)};`;
    })
    .join(' ');
}

/** By name, the file that defines it. */
async function filesOf(name) {
  const index = fileURLToPath(import.meta.resolve(name));
  const files = new Map();
  for (const [, list, path] of (await readFile(index, 'utf8')).matchAll(IMPORTS)) {
    for (const word of wordsOf(list))
      files.set(word, path.startsWith('.') ? join(dirname(index), path) : path);
  }
  return files;
}

const wordsOf = (list) =>
  list
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');

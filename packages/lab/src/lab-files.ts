// Where the built processes of the lab are. Found by walking up, because a bundle of the caller lies elsewhere.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

function builtFile(name: string): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const file = join(folder, 'packages', 'lab', 'dist', name);
    if (existsSync(file)) return file;
    if (folder === dirname(folder)) throw new Error(`${name} is not built: run npm run build`);
  }
}

/** The scripted agent, to be run with Node. */
export const labAgentFile = (): string => builtFile('lab-agent.js');

/** The mock model server as a process, to be run with Node. */
export const mockServerFile = (): string => builtFile('mock-server.js');

// The files by which agents are made to report: data of the providers, written anew at each start of the node.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROVIDERS } from '@roost/providers';

export function writeHookFiles(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const { hooks } of PROVIDERS) {
    if (hooks === undefined) continue;
    const path = join(directory, hooks.file.name);
    const part = `${path}.part`;
    writeFileSync(part, hooks.file.content, { mode: 0o600 });
    renameSync(part, path);
  }
}

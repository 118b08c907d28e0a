// The files by which agents are made to report: data of the providers, written anew at each start of the node.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROVIDERS } from '@roost/providers';

export function writeHookFiles(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const { hooks } of PROVIDERS) {
    const file = hooks?.file ?? null;
    if (file === null) continue;
    const path = join(directory, file.name);
    const part = `${path}.part`;
    writeFileSync(part, file.content, { mode: 0o600 });
    renameSync(part, path);
  }
}

/** The agent that does what its prompts say, in the place of a provider's. */
import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { RoostHome } from './roost-home.ts';

const SPOKEN_AGENT = new URL('./spoken-agent.mjs', import.meta.url).pathname;

/** Before its node is started: `qwen` is that agent there. */
export function putStandInAgent({ root, environment }: RoostHome): void {
  const bin = join(root, 'bin');
  mkdirSync(bin);
  symlinkSync(SPOKEN_AGENT, join(bin, 'qwen'));
  environment.PATH = `${bin}:${dirname(process.execPath)}:${environment.PATH ?? ''}`;
}

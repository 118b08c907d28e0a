// In which order files of tests begin: one project after the other, those that take longest first, so that no processor waits for the
// last one; the others in an order of this run's seed.
import { createHash } from 'node:crypto';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The cheapest first: what is broken everywhere shows early. */
const PROJECTS = ['unit', 'e2e', 'agents', 'attack'];

/** Each of them takes more than half a minute. */
const LONG = [
  'bench/run',
  'worktrees/manual-worktrees',
  'spawn/spawn',
  'e2e/web-access',
  'e2e/web-ui',
  'e2e/web-dialogs',
  'e2e/web-driving',
  'spoken-agents/gemini',
  'spoken-agents/opencode',
  'spoken-agents/qwen',
  'attack/one-node',
  'attack/worktree-kill',
  'attack/workspace-paths',
  'attack/misbehaving-client',
].map((name) => `/${name}.test.ts`);

export class FileOrder extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { seed } = this.ctx.config.sequence;
    const ranked = files.map((file) => {
      const long = LONG.findIndex((name) => file.moduleId.endsWith(name));
      const drawn = createHash('sha256').update(`${seed} ${file.moduleId}`).digest('hex');
      return {
        file,
        project: PROJECTS.indexOf(file.project.name),
        long: long < 0 ? LONG.length : long,
        drawn,
      };
    });
    ranked.sort((a, b) => a.project - b.project || a.long - b.long || (a.drawn < b.drawn ? -1 : 1));
    return Promise.resolve(ranked.map(({ file }) => file));
  }
}

import { it } from 'vitest';
import { INSTALL_MS } from '../../support/real-cli.ts';
import { tellSpokenStory } from '../../support/spoken-story.ts';

it(
  'codex is asked, refused, allowed by another client, interrupted, through a crash of the node, and run on',
  { timeout: INSTALL_MS },
  (context) =>
    tellSpokenStory(
      {
        provider: 'codex',
        tool: (file) => ({
          name: 'exec_command',
          input: {
            cmd: `touch ${file}`,
            sandbox_permissions: 'require_escalated',
            justification: 'to try it',
          },
        }),
      },
      context,
    ),
);

import { it } from 'vitest';
import { INSTALL_MS } from '../../support/real-cli.ts';
import { tellSpokenStory } from '../../support/spoken-story.ts';

it(
  'gemini is asked, refused, allowed by another client, interrupted, through a crash of the node, and run on',
  { timeout: INSTALL_MS },
  (context) =>
    tellSpokenStory(
      {
        provider: 'gemini',
        isLarge: true,
        tool: (file) => ({
          name: 'run_shell_command',
          input: { command: `touch ${file}`, description: 'makes a file' },
        }),
      },
      context,
    ),
);

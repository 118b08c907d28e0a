import { it } from 'vitest';
import { INSTALL_MS } from '../../support/real-cli.ts';
import { tellSpokenStory } from '../../support/spoken-story.ts';

it(
  'claude is asked, refused, allowed by another client, interrupted, through a crash of the node, and run on',
  { timeout: INSTALL_MS },
  (context) =>
    tellSpokenStory(
      {
        provider: 'claude',
        tool: (file) => ({ name: 'Write', input: { file_path: file, content: 'written' } }),
      },
      context,
    ),
);

/** `--option NAME=VALUE` as session options. */
import { resolve } from 'node:path';
import type { SessionOptions } from '@roost/protocol';
import { UsageError } from './usage-error.ts';

const NAMES: Readonly<Record<string, keyof SessionOptions>> = {
  model: 'model',
  'permission-mode': 'permissionMode',
  effort: 'effort',
  'allowed-tools': 'allowedTools',
  'disallowed-tools': 'disallowedTools',
  'mcp-config': 'mcpConfig',
  'append-system-prompt': 'appendSystemPrompt',
};

/** Tools come one a time, or with commas between them; a file is taken from `directory`. */
export function readSessionOptions(entries: readonly string[], directory: string): SessionOptions {
  const options: SessionOptions = {};
  for (const entry of entries) {
    const cut = entry.indexOf('=');
    const name = cut < 0 ? entry : entry.slice(0, cut);
    const value = cut < 0 ? '' : entry.slice(cut + 1);
    const option = Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;
    if (option === undefined) {
      throw new UsageError(`'${name}' is no session option; there are ${Object.keys(NAMES).join(', ')}`);
    }
    if (value === '') throw new UsageError(`give ${name} a value with ${name}=VALUE`);
    switch (option) {
      case 'allowedTools':
      case 'disallowedTools':
        options[option] = [...(options[option] ?? []), ...splitTools(value)];
        break;
      case 'mcpConfig':
        options[option] = resolve(directory, value);
        break;
      default:
        options[option] = value;
    }
  }
  return options;
}

/** At commas outside of parentheses: `Bash(git log:*),Edit` are two. */
function splitTools(text: string): string[] {
  return text.split(/,(?![^(]*\))/).filter((tool) => tool !== '');
}

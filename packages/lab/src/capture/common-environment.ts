// What every captured program gets beside its home: a path on which Node is, a locale, and nothing of ours.
import { dirname } from 'node:path';

export const commonEnvironment = (file: string): Record<string, string> => ({
  PATH: `${dirname(process.execPath)}:${dirname(file)}:/usr/local/bin:/usr/bin:/bin`,
  LANG: 'C.UTF-8',
  SHELL: '/bin/bash',
  TERM: 'xterm-256color',
  COLORTERM: 'truecolor',
  USER: 'dev',
  // Codex warns when its home lies in the folder for temporary files.
  TMPDIR: '/var/tmp',
});

// What differs between the CLIs when a script drives them: their tools, their keys, the text by which a dialog is awaited.
import type { ToolCall } from '../mock-server/replies.ts';
import type { TerminalCliName } from '../real-cli/versions.ts';

export interface Dialect {
  args: readonly string[];
  /** A command that needs permission. */
  command: (command: string) => ToolCall;
  /** A new file that needs permission. */
  write: (file: string, content: string) => ToolCall;
  /** A question to the person; null when the CLI offers no such tool. */
  question: (() => ToolCall) | null;
  /** The dialog of a command or an edit is there. For waiting only. */
  approvalSees: RegExp;
  questionSees: RegExp;
  allow: string;
  deny: string;
  exit: string;
}

const QUESTION = 'Which colour should the button have?';
const SHELL =
  (name: string, extra: Record<string, unknown> = {}) =>
  (command: string): ToolCall => ({
    name,
    input: { command, description: 'Run a small command', ...extra },
  });
const OPTIONS = [
  { label: 'Blue', description: 'As the logo' },
  { label: 'Green', description: 'As the start page' },
];

export const DIALECTS: Readonly<Record<TerminalCliName, Dialect>> = {
  claude: {
    args: [],
    command: SHELL('Bash'),
    write: (file_path, content) => ({ name: 'Write', input: { file_path, content } }),
    question: () => ({
      name: 'AskUserQuestion',
      input: { questions: [{ question: QUESTION, header: 'Colour', multiSelect: false, options: OPTIONS }] },
    }),
    approvalSees: /Do you want to [^]*1\. Yes[^]*Esc to cancel/,
    questionSees: /Which colour[^]*1\.\s+Blue/,
    allow: '1',
    deny: '\x1b',
    exit: '/exit',
  },
  codex: {
    args: ['--no-daemon'],
    command: (cmd) => ({
      name: 'exec_command',
      input: {
        cmd,
        sandbox_permissions: 'require_escalated',
        justification: 'May I run this small command?',
      },
    }),
    write: (file, content) => ({
      name: 'exec_command',
      input: {
        cmd: `printf %s '${content}' > ${file}`,
        sandbox_permissions: 'require_escalated',
        justification: 'May I write this file?',
      },
    }),
    question: null,
    approvalSees: /Press enter to confirm or esc to cancel/,
    questionSees: /Which colour/,
    allow: 'y',
    deny: '\x1b',
    exit: '/quit',
  },
  gemini: {
    args: [],
    command: SHELL('run_shell_command'),
    write: (file_path, content) => ({ name: 'write_file', input: { file_path, content } }),
    question: () => ({
      name: 'ask_user',
      input: { questions: [{ question: QUESTION, header: 'Colour', type: 'choice', options: OPTIONS }] },
    }),
    approvalSees: /● 1\. (Allow once|Yes)/,
    questionSees: /Which colour[^]*1\.\s+Blue/,
    allow: '1',
    deny: '\x1b',
    exit: '/quit',
  },
  opencode: {
    args: [],
    command: SHELL('bash'),
    write: (filePath, content) => ({ name: 'write', input: { filePath, content } }),
    question: () => ({
      name: 'question',
      input: { questions: [{ question: QUESTION, header: 'Colour', options: OPTIONS }] },
    }),
    approvalSees: /Permission required/,
    questionSees: /Which colour/,
    allow: '\r',
    deny: '\x1b',
    exit: '/exit',
  },
  qwen: {
    args: [],
    command: SHELL('run_shell_command', { is_background: false }),
    write: (file_path, content) => ({ name: 'write_file', input: { file_path, content } }),
    question: () => ({
      name: 'ask_user_question',
      input: { questions: [{ question: QUESTION, header: 'Colour', multiSelect: false, options: OPTIONS }] },
    }),
    approvalSees: /› 1\. Yes/,
    questionSees: /Which colour[^]*1\.\s+Blue/,
    allow: '1',
    deny: '\x1b',
    exit: '/quit',
  },
};

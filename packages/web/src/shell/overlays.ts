/** What is shown above a page when it is asked for: one part of the program, loaded with the first of them. */
export { LaunchDialog } from '../launch/launch-dialog.tsx';
export { CommandPalette } from './command-palette.tsx';
export { ShortcutHelp } from './shortcut-help.tsx';

// Git's own files: whoever may write there decides what the next git command runs (hooks, fsmonitor, another git directory). They
// can be read and never written from outside.

/** Characters that some file systems ignore in names: with them, other spellings mean the same name. */
const IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
/** What DOS made of the name; file systems from there still know it. */
const SHORT_NAME = 'git~1';

/** Whether the entry is, or lies beneath, what a file system somewhere takes for `.git`. */
export function isInGitDirectory(path: string): boolean {
  return path.split('/').some((part) => {
    const name = part
      .replace(IGNORED, '')
      .toLowerCase()
      .replace(/[. ]+$/, '');
    return name === '.git' || name === SHORT_NAME;
  });
}

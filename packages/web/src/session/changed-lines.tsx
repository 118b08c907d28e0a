import type { ChangedLine } from './tool-change.ts';
import styles from './changed-lines.module.css';

const CLASSES = { '+': styles.added, '-': styles.removed, ' ': styles.same };

/** What is different, for a `pre`. */
export function ChangedLines({ lines }: { readonly lines: readonly ChangedLine[] }) {
  return lines.map(({ sign, text }, index) => (
    <span key={index} className={CLASSES[sign]}>
      {sign} {text}
    </span>
  ));
}

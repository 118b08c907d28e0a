import { useEffect, type ReactNode } from 'react';
import { Skeleton } from '@mantine/core';
import styles from './page.module.css';

/** One page: its heading, what can be done on it, what it shows. */
export function Page({
  title,
  note,
  tools,
  children,
}: {
  readonly title: string;
  /** Beside the title. */
  readonly note?: ReactNode;
  readonly tools?: ReactNode;
  readonly children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Roost`;
  }, [title]);
  return (
    <div className={styles.page}>
      <div className={styles.head}>
        <h1 className={styles.title}>{title}</h1>
        {note !== undefined && <span className={styles.note}>{note}</span>}
        {tools !== undefined && <div className={styles.tools}>{tools}</div>}
      </div>
      {children}
    </div>
  );
}

/** Nothing is there, and that is no fault: says so, and what to do. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className={styles.empty}>
      <div className={styles.emptyTitle}>{title}</div>
      {children}
    </div>
  );
}

/** Holds the place of rows that are being read. */
export function LoadingRows({ rows = 4, height = 56 }: { readonly rows?: number; readonly height?: number }) {
  return (
    <div role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, index) => (
        <Skeleton key={index} height={height} radius="md" mb={8} />
      ))}
    </div>
  );
}

/** A wide table scrolls by itself, not the page. */
export function TableBox({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    // Whoever has only a keyboard scrolls it too.
    <div className={styles.scroll} role="region" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}

// Waiting that an abort ends.

/** A function: it may change during every wait. */
export function isOver(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** Ends early, without an error, when the signal aborts. */
export function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', done, { once: true });
  });
}

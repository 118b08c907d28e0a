/** Ctrl-C as an end that was wished for: commands that go on until then finish normally. */
export function interruption(): { readonly signal: AbortSignal } & Disposable {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      process.off('SIGINT', stop);
      process.off('SIGTERM', stop);
    },
  };
}

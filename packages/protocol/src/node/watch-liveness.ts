/** Notices that the other end of a WebSocket is gone without a word: a network that is cut says nothing. */

/** Milliseconds between pings; one that was not answered by the next ends the line. */
export const LINE_PING_MS = 5_000;

/** What is needed of a WebSocket. */
interface Line {
  readonly isPaused: boolean;
  readonly bufferedAmount: number;
  readonly readyState: number;
  readonly OPEN: number;
  on(event: 'message' | 'pong', listener: () => void): unknown;
  once(event: 'close', listener: () => void): unknown;
  ping(): void;
  terminate(): void;
}

/** Until it closes. A line that is read slowly, or is held back here, is alive. */
export function watchLiveness(line: Line, pingMs = LINE_PING_MS): void {
  let isHeard = true;
  let rest = 0;
  const hear = (): void => {
    isHeard = true;
  };
  line.on('message', hear);
  line.on('pong', hear);
  const timer = setInterval(() => {
    // The answer to a ping waits behind what is not read yet, there or here.
    if (line.isPaused || line.bufferedAmount !== rest) hear();
    rest = line.bufferedAmount;
    if (!isHeard) {
      line.terminate();
      return;
    }
    isHeard = false;
    if (line.readyState === line.OPEN) line.ping();
  }, pingMs);
  timer.unref();
  line.once('close', () => clearInterval(timer));
}

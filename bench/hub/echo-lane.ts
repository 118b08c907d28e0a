/** An attached terminal in this process: types one key and waits until it comes back. */
import { attachSession, type SessionAttachOptions, type TerminalAttachment } from '@roost/client';
import { READY } from '../viewed-session.ts';

/** Letters that end no common control sequence, so that a redraw is not taken for an echo. */
const KEYS = ['e', 'g', 'j', 'k', 'o', 'v', 'w', 'y', 'z'];
const PATIENCE_MS = 20_000;

export class EchoLane {
  readonly #attachment: TerminalAttachment;
  readonly #ready: Promise<void>;
  #shown = '';
  #typed = 0;
  #key = -1;
  #onKey: () => void = () => undefined;
  #onReady: () => void = () => undefined;

  private constructor(attachment: TerminalAttachment) {
    this.#attachment = attachment;
    this.#ready = new Promise((resolve) => (this.#onReady = resolve));
    const take = (bytes: Uint8Array) => this.#take(bytes);
    const ignore = () => undefined;
    attachment.start({ screen: take, output: take, role: ignore, ended: ignore, closed: ignore });
  }

  /** The program prints `READY` once, and then what it reads. */
  static async open(
    connection: Parameters<typeof attachSession>[0],
    view: SessionAttachOptions,
  ): Promise<EchoLane> {
    const lane = new EchoLane(await attachSession(connection, view));
    await lane.#ready;
    return lane;
  }

  /** Milliseconds until a key came back. */
  echo(): Promise<number> {
    const key = KEYS[this.#typed++ % KEYS.length] ?? 'e';
    return new Promise((resolve, reject) => {
      const lost = setTimeout(() => reject(new Error('a key did not come back')), PATIENCE_MS);
      this.#key = key.charCodeAt(0);
      const bytes = Buffer.from(key);
      const startedAt = performance.now();
      this.#onKey = () => {
        const milliseconds = performance.now() - startedAt;
        this.#key = -1;
        clearTimeout(lost);
        resolve(milliseconds);
      };
      this.#attachment.write(bytes);
    });
  }

  close(): void {
    this.#attachment.close();
  }

  #take(bytes: Uint8Array): void {
    if (this.#key >= 0 && bytes.includes(this.#key)) this.#onKey();
    this.#attachment.acknowledge(bytes.length);
    if (this.#typed > 0) return;
    this.#shown += Buffer.from(bytes).toString('latin1');
    if (this.#shown.includes(READY)) this.#onReady();
  }
}

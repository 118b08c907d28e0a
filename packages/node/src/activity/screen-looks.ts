// Looks at the screens of agents, each at its own pace: the keeper is asked for the next newer screen, so an idle agent costs nothing,
// and a busy one a few looks a second. What a look means is the provider's rules' to say.
import type { SessionId } from '@roost/protocol';
import { readScreen, type ScreenRule, type ScreenVerdict } from '@roost/providers';
import type { KeeperLink } from '../keepers/keeper-link.ts';
import { nextFrame } from '../keepers/next-frame.ts';
import type { Log } from '@roost/storage';

/** Milliseconds between two looks at a screen that changes: well below what a person takes for "now". */
const LOOK_MS = 200;

interface ScreenLooksOptions {
  /** The keeper of a session that runs; null when there is none to ask now. */
  readonly link: (sessionId: SessionId) => KeeperLink | null;
  readonly seen: (sessionId: SessionId, verdict: ScreenVerdict | null) => void;
  readonly log: Log;
}

export class ScreenLooks {
  readonly #options: ScreenLooksOptions;
  readonly #looking = new Set<SessionId>();
  readonly #pauses = new Map<NodeJS.Timeout, () => void>();
  #closed = false;

  constructor(options: ScreenLooksOptions) {
    this.#options = options;
  }

  /** Until the session has ended, or its keeper is out of reach. */
  begin(sessionId: SessionId, rules: readonly ScreenRule[]): void {
    if (this.#closed || this.#looking.has(sessionId)) return;
    this.#looking.add(sessionId);
    this.#look(sessionId, rules)
      .catch((error: unknown) =>
        this.#options.log.warn({ sessionId, err: error }, 'a screen cannot be looked at'),
      )
      .finally(() => this.#looking.delete(sessionId));
  }

  close(): void {
    this.#closed = true;
    for (const [timer, resume] of this.#pauses) {
      clearTimeout(timer);
      resume();
    }
  }

  async #look(sessionId: SessionId, rules: readonly ScreenRule[]): Promise<void> {
    const isClosed = () => this.#closed;
    for (let after = -1; !isClosed();) {
      const frame = await nextFrame(this.#options.link(sessionId), sessionId, after);
      if (frame === null || frame.ended || isClosed()) return;
      after = frame.revision;
      this.#options.seen(sessionId, readScreen(rules, frame));
      await this.#pause();
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#pauses.delete(timer);
        resolve();
      }, LOOK_MS);
      timer.unref();
      this.#pauses.set(timer, resolve);
    });
  }
}

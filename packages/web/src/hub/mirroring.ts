import type { HubMirror } from '@roost/client/browser';

/** Runs the mirror for whoever shows it. It may begin before anybody does: the first then goes on with what has begun. */
export class Mirroring {
  readonly #mirror: Pick<HubMirror, 'run'>;
  #begun: AbortController | null = null;

  constructor(mirror: Pick<HubMirror, 'run'>) {
    this.#mirror = mirror;
  }

  begin(): void {
    this.#begun ??= this.#run();
  }

  /** Whoever logs in begins anew. */
  drop(): void {
    this.#begun?.abort();
    this.#begun = null;
  }

  /** Answers how to end it. */
  take(): () => void {
    const run = this.#begun ?? this.#run();
    this.#begun = null;
    return () => run.abort();
  }

  #run(): AbortController {
    const ending = new AbortController();
    void this.#mirror.run(ending.signal);
    return ending;
  }
}

// Giving agents prompts: only where a prompt is known to be taken as one, only to a composer that is seen to be empty, one at a time a
// session, the first one first; and no more is said of it than is known.
import { setTimeout as delay } from 'node:timers/promises';
import {
  failure,
  FailureError,
  type AgentEvent,
  type Params,
  type Result,
  type SessionId,
} from '@roost/protocol';
import { isReadable, runtimeCapabilities, type ReadableProvider } from '@roost/providers';
import { parseActivity } from '../activity/stored-activity.ts';
import { Deadline, OVER } from '../deadline.ts';
import type { KeeperLink } from '../keepers/keeper-link.ts';
import { nextFrame } from '../keepers/next-frame.ts';
import type { Log } from '@roost/storage';
import type { ProviderSource } from '../providers/providers.ts';
import { isLive, type SessionRow } from '../sessions/session-table.ts';
import type { Store } from '../store/store.ts';
import { heardAfter, shownAfter, writtenPrompt, type PromptTurn } from './prompt-turn.ts';
import { refusedByActivity, refusedByScreen } from './readiness.ts';
import { sendAgain } from './send-again.ts';
import { hasWaitingPrompt } from './waiting-prompts.ts';

/** Milliseconds for a screen to come to show its composer: it is drawn in pieces, and after the agent has said so. */
const LOOK_MS = 1_000;
/** Milliseconds between two looks. */
const LOOK_AGAIN_MS = 100;
/** Milliseconds after which a prompt whose begin nobody noticed does not stand in the way of the next. */
const UNNOTICED_MS = 5_000;

interface PromptsOptions {
  readonly store: Store;
  readonly providers: Pick<ProviderSource, 'find'>;
  readonly log: Log;
}

type Asked = Pick<Params<'session.prompt'>, 'text' | 'until' | 'waitMs'>;

interface Recipient {
  readonly row: SessionRow;
  readonly provider: ReadableProvider;
  readonly link: KeeperLink;
  /** Called once its composer is seen to be free, before the first byte. */
  readonly take?: () => Promise<void>;
}

/** A prompt of which more may become known. */
interface Pending {
  turn: PromptTurn;
  hasEnded: boolean;
  onNews: () => void;
}

export class Prompts {
  readonly #options: PromptsOptions;
  readonly #pending = new Map<SessionId, Pending>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #stopListening: () => void;

  constructor(options: PromptsOptions) {
    this.#options = options;
    this.#stopListening = options.store.onEvent(({ body }) => {
      if (body.kind === 'session-removed') this.#end(body.sessionId);
      if (body.kind !== 'session-changed') return;
      const { id, activity = null } = body.session;
      if (!isLive(body.session)) this.#end(id);
      else if (activity !== null) this.#learn(id, (turn) => shownAfter(turn, activity));
    });
  }

  /** The agent itself says something. */
  heard(sessionId: SessionId, event: AgentEvent): void {
    this.#learn(sessionId, (turn) => heardAfter(turn, event));
  }

  /**
   * Answers how far it came: less than `until` when no more is known after `waitMs`, or when the session has ended.
   * @throws FailureError: prompt-unsupported, delivery-unprovable, turn-in-flight, agent-not-ready, composer-occupied; those of input.
   * Nothing is written then, except by those of input.
   */
  async give(
    row: SessionRow,
    findLink: () => KeeperLink,
    { text, until, waitMs }: Asked,
    signal: AbortSignal,
  ): Promise<Result<'session.prompt'>> {
    this.requirePrompt(row);
    const provider = this.#options.providers.find(row.provider);
    if (!isReadable(provider)) {
      if (until === 'accepted' || until === 'answered')
        throw new FailureError('delivery-unprovable', { sessionId: row.id, until });
      return { delivery: 'written', ...(await paste(row, findLink(), text, true)) };
    }
    const link = findLink();
    if (hasWaitingPrompt(this.#options.store.sql, row.id)) throw inFlight(row);
    return this.#deliver({ row, provider, link }, { text, until, waitMs }, signal);
  }

  /** Gives a session its first prompt. @throws FailureError: as `give`; what `take` throws: nothing is written then. */
  async giveFirst(recipient: Required<Recipient>, text: string): Promise<void> {
    await this.#deliver(recipient, { text, until: 'written', waitMs: 0 }, new AbortController().signal);
  }

  async #deliver(
    { row, provider, link, take }: Recipient,
    { text, until, waitMs }: Asked,
    signal: AbortSignal,
  ): Promise<Result<'session.prompt'>> {
    if (this.#pending.has(row.id)) throw inFlight(row);
    const isProofWanted = until === 'accepted' || until === 'answered';
    const pending: Pending = { turn: writtenPrompt(text), hasEnded: false, onNews: () => undefined };
    this.#pending.set(row.id, pending);
    let isLeft = false;
    try {
      await requireReady(row, provider, link);
      await take?.();
      pending.turn = writtenPrompt(text);
      const { bytesWritten } = await paste(row, link, closed(text), true);
      this.#sendAgain({ row, provider, link }, pending);
      if (isProofWanted) await settled(pending, until, Deadline.in(waitMs), signal);
      else isLeft = pending.turn.delivery === 'written';
      return { delivery: isProofWanted ? pending.turn.delivery : 'written', bytesWritten };
    } finally {
      if (isLeft) this.#leave(row.id, pending);
      else this.#drop(row.id, pending);
    }
  }

  /** @throws FailureError: prompt-unsupported. */
  requirePrompt({ id: sessionId, provider, transport }: SessionRow): void {
    const capabilities = runtimeCapabilities(this.#options.providers.find(provider), transport);
    if (!capabilities.includes('structured-prompt')) {
      throw new FailureError('prompt-unsupported', { sessionId, provider });
    }
  }

  close(): void {
    this.#stopListening();
    this.#pending.clear();
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #learn(sessionId: SessionId, step: (turn: PromptTurn) => PromptTurn): void {
    const pending = this.#pending.get(sessionId);
    if (pending === undefined) return;
    const after = step(pending.turn);
    if (after === pending.turn) return;
    pending.turn = after;
    pending.onNews();
  }

  #end(sessionId: SessionId): void {
    const pending = this.#pending.get(sessionId);
    if (pending === undefined) return;
    pending.hasEnded = true;
    pending.onNews();
  }

  /** Until it is known to have begun: what the screen shows until then is from before it. */
  #leave(sessionId: SessionId, pending: Pending): void {
    const drop = () => {
      clearTimeout(timer);
      this.#timers.delete(timer);
      this.#drop(sessionId, pending);
    };
    const timer = setTimeout(drop, UNNOTICED_MS).unref();
    this.#timers.add(timer);
    pending.onNews = drop;
  }

  /** For as long as it is not known to have begun. */
  #sendAgain({ row, provider, link }: Recipient, pending: Pending): void {
    const isOver = () =>
      this.#pending.get(row.id) !== pending || pending.hasEnded || pending.turn.delivery !== 'written';
    sendAgain(row.id, { provider, link }, pending.turn.text, isOver).catch((error: unknown) =>
      this.#options.log.debug({ sessionId: row.id, err: error }, 'a prompt could not be sent again'),
    );
  }

  #drop(sessionId: SessionId, pending: Pending): void {
    if (this.#pending.get(sessionId) === pending) this.#pending.delete(sessionId);
  }
}

function inFlight({ id: sessionId }: SessionRow): FailureError {
  return new FailureError('turn-in-flight', { sessionId });
}

/** @throws FailureError: turn-in-flight, agent-not-ready, composer-occupied. */
async function requireReady(row: SessionRow, provider: ReadableProvider, link: KeeperLink): Promise<void> {
  const sessionId = row.id;
  const known = refusedByActivity(sessionId, parseActivity(row.activity));
  if (known !== null) throw FailureError.from(known);
  const deadline = Deadline.in(LOOK_MS);
  let refused = failure('agent-not-ready', { sessionId, reason: 'unknown' });
  for (;;) {
    // As it is now: a look that waits for a change would be left behind when the time is over.
    const frame = await deadline.race(nextFrame(link, sessionId, -1));
    if (frame === OVER || frame === null || frame.ended) throw FailureError.from(refused);
    const seen = refusedByScreen(sessionId, provider, frame);
    if (seen === null) return;
    if (seen.code === 'composer-occupied') throw FailureError.from(seen);
    refused = seen;
    if ((await deadline.race(delay(LOOK_AGAIN_MS))) === OVER) throw FailureError.from(refused);
  }
}

/** Resolves when it has come that far, or no more will be known in time. */
async function settled(
  pending: Pending,
  until: 'accepted' | 'answered',
  deadline: Deadline,
  signal: AbortSignal,
): Promise<void> {
  let stop = (): void => undefined;
  const news = new Promise<void>((resolve) => {
    const look = () => {
      const { delivery } = pending.turn;
      if (delivery === until || delivery === 'answered' || pending.hasEnded || signal.aborted) resolve();
    };
    pending.onNews = look;
    signal.addEventListener('abort', look);
    stop = () => signal.removeEventListener('abort', look);
    look();
  });
  await deadline.race(news);
  stop();
}

/** Behind these, Enter completes the name of a file, or breaks the line (Claude Code 2.1.197, Codex 0.171.0); a blank ends that. */
const OPEN_END = /(?:^|\s)@\S*$|\\$/;

function closed(text: string): string {
  return OPEN_END.test(text) ? `${text} ` : text;
}

/** Every agent takes a bracketed paste: newlines stay in the text, and no byte of it presses a key. */
export function paste(
  row: SessionRow,
  link: KeeperLink,
  text: string,
  submit: boolean,
): Promise<{ bytesWritten: number }> {
  return link.call('input', { sessionId: row.id, text, framing: 'paste', submit }, null);
}

/**
 * Speaks a provider's structured protocol without doing any I/O: lines in, lines and events out. Whoever owns the process gives it each
 * line of standard output once and in order, and keeps `state()` beside the place up to which the output was taken, so that another
 * driver goes on from there after a crash. What a call writes is sent when the state after that call is stored: then nothing is
 * answered twice.
 */
import type { AgentEvent, AgentProtocolId } from '@roost/protocol';

/** Bytes of a line; a longer one is skipped by the reader, with a notice. */
export const DRIVER_LINE_BYTES_MAX = 8 * 1024 * 1024;

/** As whom we speak; vendors are told with every request of a model. */
export const DRIVER_CLIENT = { name: 'roost', title: 'Roost', version: '0.1.0' };

export interface DriverPort {
  emit(event: AgentEvent): void;
  /** One line without its end. */
  write(line: string): void;
  /** Milliseconds since 1970: for what a provider tells as "in two hours". */
  now(): number;
}

/** What a person, a policy or a deadline says to a request. */
export type InteractionAnswer =
  | { readonly kind: 'option'; readonly optionId: string }
  | { readonly kind: 'text'; readonly text: string }
  /** Refuse, whatever the options are called. */
  | { readonly kind: 'refuse'; readonly message: string | null };

export interface DriverOpening {
  /** Absolute path of the working directory. */
  readonly directory: string;
  /** The provider's own session to go on with; null for a new one. */
  readonly resume: string | null;
}

export interface AgentDriver {
  /** Before anything else, once in the life of a process. */
  open(opening: DriverOpening): void;
  /** Never throws: a line that is not understood is a notice, or nothing. */
  receive(line: string): void;
  /**
   * Begins a turn.
   * @returns false, and does nothing, unless `takesPrompt`: whoever has more to say keeps it.
   */
  prompt(text: string): boolean;
  /** Ends the turn; does nothing without one. */
  interrupt(): void;
  /**
   * @returns false when no such request is open (any more), or when it does not take that answer: an option that it does not
   * have, a text where none was asked for. Then nothing is written.
   */
  answer(requestId: string, answer: InteractionAnswer): boolean;
  /**
   * Chooses among what a `choices` event told; another one tells when it has come to be so.
   * @returns false when there is no such choice (now).
   */
  choose(choice: string, id: string): boolean;
  /** The process has ended: whatever is open is settled and told. */
  closed(fault: string | null): void;
  /** It is open, has not ended, and no turn runs. */
  readonly takesPrompt: boolean;
  readonly isTurnOpen: boolean;
  /** Requests that wait for an answer. */
  readonly openRequests: readonly string[];
  /** Everything that it must know to go on, as JSON of at most 256 KiB. */
  state(): unknown;
}

/** How a driver is made: new, or from the state of an earlier one. A state that it does not understand is refused with null. */
export interface AgentProtocol {
  readonly id: AgentProtocolId;
  create(port: DriverPort): AgentDriver;
  restore(port: DriverPort, state: unknown): AgentDriver | null;
}

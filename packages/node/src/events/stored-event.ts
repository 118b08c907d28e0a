// One event of the journal, as it is sent: its JSON text is made once for all who get it, its value only for those who need to
// look inside.
import { EventBody, type Incarnation, type NodeEvent } from '@roost/protocol';

export interface StoredEvent {
  readonly sequence: number;
  /** JSON of the `event` of an event frame. */
  readonly text: string;
  /** The same as a value, made at the first call; to be read only, everybody gets the same one. */
  event(): NodeEvent;
}

interface Envelope {
  readonly sequence: number;
  readonly incarnation: Incarnation;
  readonly at: string;
}

/** An event that was just committed, with the text of its body as it was stored. */
export function committedEvent(event: NodeEvent, bodyText: string): StoredEvent {
  return { sequence: event.sequence, text: frameText(event, bodyText), event: () => event };
}

/** An event that was read from the journal. */
export function journalEvent(envelope: Envelope, bodyText: string): StoredEvent {
  let event: NodeEvent | null = null;
  return {
    sequence: envelope.sequence,
    text: frameText(envelope, bodyText),
    event: () => (event ??= { ...envelope, body: EventBody.parse(JSON.parse(bodyText)) }),
  };
}

function frameText({ sequence, incarnation, at }: Envelope, bodyText: string): string {
  return `{"sequence":${sequence},"incarnation":"${incarnation}","at":"${at}","body":${bodyText}}`;
}

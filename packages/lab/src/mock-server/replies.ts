// What a test scripts: the answers of the model, free of any vendor's wire format, and the choice among them.

export interface ToolCall {
  name: string;
  input: Readonly<Record<string, unknown>>;
  id?: string;
}

interface Pacing {
  /** Milliseconds before each piece of a stream. */
  delayMs?: number;
  /** Length of the pieces in UTF-16 units, 16 unless given. */
  pieceLength?: number;
  /** Cuts the connection after that many pieces instead of ending the stream. */
  cutAfter?: number;
}

interface Matching {
  /** Only for requests whose last user text matches; a text is taken as a regular expression. */
  match?: RegExp | string;
}

export type MockReply = Matching &
  (
    | ({ kind: 'text'; text: string } & Pacing)
    | ({ kind: 'tools'; calls: readonly ToolCall[]; text?: string } & Pacing)
    | {
        kind: 'error';
        status: number;
        type?: string;
        message?: string;
        headers?: Readonly<Record<string, string>>;
      }
    | { kind: 'rate-limit'; retryAfterSeconds: number }
  );

export type ModelReply = Extract<MockReply, { kind: 'text' | 'tools' }>;

export interface RecordedRequest {
  method: string;
  /** Without the query. */
  path: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Parsed JSON; undefined when there was none. */
  body: unknown;
  /** The text of the last user message, '' when there is none. */
  prompt: string;
}

export type ReplyFunction = (request: RecordedRequest) => MockReply | undefined;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The replies in order; a reply with `match` waits for its request and lets others pass. */
export class ReplyQueue {
  readonly #waiting: MockReply[];

  constructor(replies: readonly MockReply[]) {
    this.#waiting = [...replies];
  }

  add(replies: readonly MockReply[]): void {
    this.#waiting.push(...replies);
  }

  get length(): number {
    return this.#waiting.length;
  }

  take(request: RecordedRequest): MockReply | undefined {
    const index = this.#waiting.findIndex(
      ({ match }) => match === undefined || new RegExp(match).test(request.prompt),
    );
    return index < 0 ? undefined : this.#waiting.splice(index, 1)[0];
  }
}

/** The text of the last user message of any API; what the CLIs inject beside the person's words is part of it. */
export function promptOf(body: unknown): string {
  if (!isRecord(body)) return '';
  if (typeof body.input === 'string') return body.input;
  const list: unknown = body.messages ?? body.input ?? body.contents;
  if (!Array.isArray(list)) return '';
  const last = list.findLast((one: unknown) => isRecord(one) && one.role === 'user') as
    Record<string, unknown> | undefined;
  if (last === undefined) return '';
  const content: unknown = last.content ?? last.parts;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .flatMap((part: unknown) => (isRecord(part) && typeof part.text === 'string' ? [part.text] : []))
    .join('\n');
}

/** Cuts a text for streaming, never inside a surrogate pair; an empty text is one empty piece. */
export function pieces(text: string, length = 16): string[] {
  const cut: string[] = [];
  for (let start = 0; start < text.length;) {
    let end = Math.min(text.length, start + Math.max(1, length));
    if (end < text.length && /[\uDC00-\uDFFF]/.test(text.charAt(end))) end++;
    cut.push(text.slice(start, end));
    start = end;
  }
  return cut.length === 0 ? [''] : cut;
}

/** What a node says, read without trust: what cannot be read is undefined, never an exception. */
import { failure, NodeFrame, UnknownEventFrame } from '@roost/protocol';

/** Compiling a schema costs more than a command's few answers gain by it. */
export const ONE_SHOT = { jitless: true };

/** The value of JSON text; undefined when it is none. */
export function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * What a newer node adds must not end the connection: a frame of an unknown kind is `unknown-kind`, an event of an unknown kind
 * has no body, and an answer that cannot be read ends its own request alone.
 */
export function readFrameValue(
  value: unknown,
): NodeFrame | UnknownEventFrame | { readonly kind: 'unknown-kind' } | undefined {
  const known =
    NodeFrame.safeParse(value, ONE_SHOT).data ?? UnknownEventFrame.safeParse(value, ONE_SHOT).data;
  if (known !== undefined) return known;
  if (!isObject(value) || typeof value.kind !== 'string') return undefined;
  if (value.kind === 'failure' && Number.isInteger(value.id) && isObject(value.failure)) {
    const { code } = value.failure;
    const details = {
      reason: 'a failure that is not known here',
      code: typeof code === 'string' ? code : '',
    };
    return { kind: 'failure', id: Number(value.id), failure: failure('internal-error', details) };
  }
  return KNOWN_KINDS.has(value.kind) ? undefined : { kind: 'unknown-kind' };
}

const KNOWN_KINDS: ReadonlySet<string> = new Set(NodeFrame.options.map(({ shape }) => shape.kind.value));

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

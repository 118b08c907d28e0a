import { CAPABILITIES, type Capability } from './operation.ts';
import { PROTOCOL_MAX, PROTOCOL_MIN, type Hello } from './frames.ts';

export interface Negotiated {
  readonly protocol: number;
  readonly capabilities: readonly Capability[];
}

/** The highest common version and the common capabilities; null when the version ranges do not meet. */
export function negotiate(hello: Hello): Negotiated | null {
  const protocol = Math.min(hello.protocol.max, PROTOCOL_MAX);
  if (protocol < Math.max(hello.protocol.min, PROTOCOL_MIN)) return null;
  return { protocol, capabilities: CAPABILITIES.filter((one) => hello.capabilities.includes(one)) };
}

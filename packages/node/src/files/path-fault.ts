// What can stand against reading or changing an entry of a workspace, before it is known which operation asked.
import { systemErrorCode } from '@roost/storage';

export type PathFaultKind =
  /** A link, a place that is not (or no longer) beneath the root, a name that must not be touched. */
  | 'unsafe'
  /** The system lacks what the safe way needs. */
  | 'unavailable'
  | 'root-gone'
  | 'parent-missing'
  | 'parent-not-directory'
  | 'missing'
  | 'not-regular'
  | 'not-text'
  | 'conflict'
  | 'exists'
  | 'name-too-long'
  | 'full'
  /** The caller was told that it did not happen. */
  | 'canceled'
  /** Everything else: no permission, a damaged disk. */
  | 'failed';

export class PathFault extends Error {
  readonly kind: PathFaultKind;
  /** Of a conflict: the revision that is there; null when there is no text any more. */
  readonly revision: string | null;

  constructor(kind: PathFaultKind, options: { cause?: unknown; revision?: string } = {}) {
    super(kind, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'PathFault';
    this.kind = kind;
    this.revision = options.revision ?? null;
  }
}

const COMMON: Readonly<Record<string, PathFaultKind>> = {
  ELOOP: 'unsafe',
  EEXIST: 'exists',
  ENAMETOOLONG: 'name-too-long',
  ENOSPC: 'full',
  EDQUOT: 'full',
};

/** An error of the system as a fault; `meaning` says what its code means at this place. Faults pass as they are. */
export function faultOf(error: unknown, meaning: Readonly<Record<string, PathFaultKind>> = {}): PathFault {
  if (error instanceof PathFault) return error;
  const code = systemErrorCode(error) ?? '';
  return new PathFault(meaning[code] ?? COMMON[code] ?? 'failed', { cause: error });
}

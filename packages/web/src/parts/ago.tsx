import { useEffect, useState } from 'react';
import { spanChangesIn, spanText } from './relative-time.ts';

interface Moment {
  /** ISO text or milliseconds since the epoch. */
  readonly since: string | number;
}

/** Made once: that takes longer than all it does afterwards. */
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** How long ago a moment was; the moment itself as its title. */
export function Ago({ since }: Moment) {
  const [at, text] = useSpan(since);
  return <Time at={at}>{text === 'now' ? 'just now' : `${text} ago`}</Time>;
}

/** For how long something has been so. */
export function Lasting({ since }: Moment) {
  const [at, text] = useSpan(since);
  return <Time at={at}>{text === 'now' ? 'since just now' : `for ${text}`}</Time>;
}

function Time({ at, children }: { readonly at: number; readonly children: string }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={MOMENT.format(at)} className="roost-numbers">
      {children}
    </time>
  );
}

function useSpan(since: string | number): readonly [at: number, text: string] {
  const at = typeof since === 'number' ? since : Date.parse(since);
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setTimeout(() => setNow(Date.now()), spanChangesIn(now - at));
    return () => clearTimeout(timer);
  }, [now, at]);
  return [at, spanText(Math.max(0, now - at))];
}

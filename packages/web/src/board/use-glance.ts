import { useInViewport } from '@mantine/hooks';
import type { SeenSession } from '@roost/client/browser';

/** Milliseconds between two looks at what a session shows. */
const LOOK_MS = { moving: 3_000, resting: 15_000 } as const;

/** How what a card shows of a session is kept up: looked at again as long as it is in sight. `ref` is for the element that shows it. */
export function useGlance(
  { activity }: Pick<SeenSession, 'activity'>,
  { isReachable }: { readonly isReachable: boolean },
) {
  const { ref, inViewport } = useInViewport<HTMLDivElement>();
  const isMoving = activity?.state === 'working' || activity?.state === 'starting';
  const reading = {
    enabled: inViewport && isReachable,
    refetchInterval: isMoving ? LOOK_MS.moving : LOOK_MS.resting,
    staleTime: LOOK_MS.moving,
  };
  return { ref, reading };
}

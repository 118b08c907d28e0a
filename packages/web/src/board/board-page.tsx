/** Every session of every node: those that wait for a person first. */
import { startTransition, useDeferredValue, useEffect, useState } from 'react';
import { Button, NativeSelect, SegmentedControl, Switch, TextInput } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import type { HubView } from '@roost/client/browser';
import { NodeId } from '@roost/protocol';
import { useMay, useMirror } from '../hub/hub-context.tsx';
import { SearchIcon } from '../parts/icons.tsx';
import { Empty, LoadingRows, Page } from '../parts/page.tsx';
import { useOpenLaunch } from '../shell/launch-context.ts';
import {
  boardGroups,
  EVERYTHING_LIVE,
  providersOf,
  type BoardFilter,
  type BoardGroup,
} from './board-order.ts';
import { SessionCard } from './session-card.tsx';
import styles from './board.module.css';

/** Cards of one section that are drawn before somebody asks for more. */
const CARDS_AT_ONCE = 60;
/** Those of them that are drawn before all else: as many as are in sight without scrolling. */
const CARDS_AT_FIRST = 12;

const TITLES = {
  waiting: 'Waiting for you',
  done: 'Finished, not looked at yet',
  running: 'Running',
  ended: 'Ended',
} as const;

export function BoardPage() {
  // What changes is drawn when there is time for it: typing stays quick, and cards are seen before their screens are asked for.
  const mirror = useDeferredValue(useMirror());
  const view = mirror.view ?? mirror.beginning;
  const hasMore = mirror.beginning !== null;
  const [filter, setFilter] = useState<BoardFilter>(EVERYTHING_LIVE);
  const [withScreens, setWithScreens] = useLocalStorage({ key: 'roost.screens', defaultValue: true });
  useCardKeys();
  return (
    <Page
      title="Sessions"
      tools={
        <Switch
          label="Screens"
          size="xs"
          checked={withScreens}
          onChange={(event) => setWithScreens(event.currentTarget.checked)}
        />
      }
    >
      <Filters view={view} filter={filter} onChange={setFilter} />
      {view === null ? <LoadingRows height={120} /> : <Groups {...{ view, hasMore, filter, withScreens }} />}
    </Page>
  );
}

function Filters({
  view,
  filter,
  onChange,
}: {
  readonly view: HubView | null;
  readonly filter: BoardFilter;
  readonly onChange: (filter: BoardFilter) => void;
}) {
  const nodes = view === null ? [] : [...view.nodes.values()];
  return (
    <div className={styles.filters}>
      <TextInput
        data-search
        className={styles.search}
        aria-label="Search sessions"
        placeholder="Search"
        leftSection={<SearchIcon />}
        value={filter.search}
        onChange={(event) => onChange({ ...filter, search: event.currentTarget.value })}
      />
      <SegmentedControl
        aria-label="Which sessions"
        size="sm"
        value={filter.show}
        onChange={(show) => onChange({ ...filter, show })}
        data={[
          { value: 'live', label: 'Live' },
          { value: 'ended', label: 'Ended' },
          { value: 'all', label: 'All' },
        ]}
      />
      <NativeSelect
        aria-label="Node"
        w={160}
        data={[
          { value: '', label: 'Every node' },
          ...nodes.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        value={filter.nodeId ?? ''}
        onChange={(event) =>
          onChange({ ...filter, nodeId: NodeId.safeParse(event.currentTarget.value).data ?? null })
        }
      />
      <NativeSelect
        aria-label="Provider"
        w={160}
        data={[{ value: '', label: 'Every provider' }, ...(view === null ? [] : providersOf(view))]}
        value={filter.provider ?? ''}
        onChange={(event) => {
          const { value } = event.currentTarget;
          onChange({ ...filter, provider: value === '' ? null : value });
        }}
      />
    </div>
  );
}

function Groups({
  view,
  hasMore,
  filter,
  withScreens,
}: {
  readonly view: HubView;
  /** The view is the beginning of one. */
  readonly hasMore: boolean;
  readonly filter: BoardFilter;
  readonly withScreens: boolean;
}) {
  const groups = boardGroups(view, useDeferredValue(filter));
  if (groups.length === 0 && !hasMore) return <NoSessions view={view} filter={filter} />;
  return (
    <>
      {groups.map((group) => (
        <Section key={group.section} {...{ view, hasMore, group, withScreens }} />
      ))}
      {hasMore && <LoadingRows height={120} />}
    </>
  );
}

function Section({
  view,
  hasMore,
  group,
  withScreens,
}: {
  readonly view: HubView;
  readonly hasMore: boolean;
  readonly group: BoardGroup;
  readonly withScreens: boolean;
}) {
  const [shown, setShown] = useState(CARDS_AT_ONCE);
  const [drawn, setDrawn] = useState(CARDS_AT_FIRST);
  useEffect(() => startTransition(() => setDrawn(shown)), [shown]);
  const { section, sessions } = group;
  return (
    <section className={styles.section} aria-label={TITLES[section]}>
      <h2 className={styles.sectionTitle}>
        {TITLES[section]} · {sessions.length}
        {hasMore && '…'}
      </h2>
      <ul className={styles.grid}>
        {sessions.slice(0, drawn).map((session) => (
          <li key={session.id}>
            <SessionCard session={session} node={view.nodes.get(session.nodeId)} withScreen={withScreens} />
          </li>
        ))}
      </ul>
      {sessions.length > shown && (
        <Button variant="default" onClick={() => setShown(shown + CARDS_AT_ONCE)}>
          Show {Math.min(CARDS_AT_ONCE, sessions.length - shown)} more
        </Button>
      )}
    </section>
  );
}

function NoSessions({ view, filter }: { readonly view: HubView; readonly filter: BoardFilter }) {
  const openLaunch = useOpenLaunch();
  const mayLaunch = useMay('operator');
  if (view.nodes.size === 0) {
    return (
      <Empty title="No machine belongs to this hub yet">
        <div>
          Invite one in the settings, then run <code>roost node join</code> there.
        </div>
      </Empty>
    );
  }
  if (view.sessions.size > 0 && filter !== EVERYTHING_LIVE)
    return <Empty title="No session is like that">Try another search or filter.</Empty>;
  return (
    <Empty title="Nothing runs now">
      {mayLaunch && (
        <Button mt={8} onClick={() => openLaunch({})}>
          New session
        </Button>
      )}
    </Empty>
  );
}

/** j and k go from card to card. */
function useCardKeys(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 'j' && event.key !== 'k') return;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (
        event.target instanceof Element &&
        event.target.closest('input, textarea, [role="dialog"]') !== null
      )
        return;
      const cards = [...document.querySelectorAll<HTMLElement>('[data-session-card]')];
      const at = cards.findIndex((card) => card === document.activeElement);
      const next = event.key === 'j' ? at + 1 : Math.max(0, at - 1);
      cards[Math.min(next, cards.length - 1)]?.focus();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}

/** The frame around every page: navigation, the state of the hub, the palette, shortcuts. */
import { lazy, Suspense, useRef, useState } from 'react';
import { ActionIcon, Button, Kbd } from '@mantine/core';
import { Link, Route, Switch, useLocation } from 'wouter';
import { includesRole } from '@roost/protocol';
import { useAttentionNotices } from '../attention/use-attention-notices.ts';
import { waitingSessions } from '../attention/waiting-sessions.ts';
import { BoardPage } from '../board/board-page.tsx';
import { useMay, useMe, useMirror, useViewSoFar } from '../hub/hub-context.tsx';
import { Ago } from '../parts/ago.tsx';
import { FailureAlert } from '../parts/failure-alert.tsx';
import { PlusIcon, SearchIcon } from '../parts/icons.tsx';
import { Empty, LoadingRows, Page } from '../parts/page.tsx';
import { Status } from '../parts/status.tsx';
import { LaunchContext, type OpenLaunch } from './launch-context.ts';
import { PAGES } from './pages.ts';
import { useShortcuts } from './use-shortcuts.ts';
import styles from './shell.module.css';

// What is not shown at first, in few parts: each costs a request more than its code.
const overlays = () => import('./overlays.ts');
const CommandPalette = lazy(async () => ({ default: (await overlays()).CommandPalette }));
const ShortcutHelp = lazy(async () => ({ default: (await overlays()).ShortcutHelp }));
const LaunchDialog = lazy(async () => ({ default: (await overlays()).LaunchDialog }));
const lists = () => import('./list-pages.ts');
const FleetPage = lazy(async () => ({ default: (await lists()).FleetPage }));
const RecordsPage = lazy(async () => ({ default: (await lists()).RecordsPage }));
const WorktreesPage = lazy(async () => ({ default: (await lists()).WorktreesPage }));
const AuditPage = lazy(async () => ({ default: (await lists()).AuditPage }));
const SettingsPage = lazy(async () => ({ default: (await lists()).SettingsPage }));
const SessionPage = lazy(() => import('../session/session-page.tsx'));
const WorkspacePage = lazy(() => import('../workspace/workspace-page.tsx'));

export function Shell() {
  const [launch, setLaunch] = useState<Parameters<OpenLaunch>[0] | null>(null);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [paletteCalls, setPaletteCalls] = useState(0);
  const mayLaunch = useMay('operator');
  const [, navigate] = useLocation();
  const main = useRef<HTMLElement>(null);
  const openPalette = () => setPaletteCalls((calls) => calls + 1);
  const openLaunch: OpenLaunch = (preset) => mayLaunch && setLaunch(preset);
  useAttentionNotices();
  useShortcuts({
    navigate,
    openPalette,
    openLaunch: () => openLaunch({}),
    openHelp: () => setHelpOpen(true),
  });
  return (
    <LaunchContext value={openLaunch}>
      <div className={styles.shell}>
        <a
          className={styles.skip}
          href="#main"
          onClick={(event) => {
            // The address is that of the page.
            event.preventDefault();
            main.current?.focus();
          }}
        >
          Skip to the content
        </a>
        <header className={styles.header}>
          <Link href="/" className={styles.brand}>
            Roost
          </Link>
          <div className={styles.right}>
            <HubLine />
            <span className={styles.wide}>
              <Button
                variant="default"
                size="xs"
                leftSection={<SearchIcon />}
                rightSection={<Kbd size="xs">Ctrl K</Kbd>}
                onClick={openPalette}
              >
                Go to
              </Button>
            </span>
            <span className={styles.narrow}>
              <ActionIcon variant="default" size="lg" aria-label="Go to" onClick={openPalette}>
                <SearchIcon />
              </ActionIcon>
            </span>
            {mayLaunch && (
              <>
                <span className={styles.wide}>
                  <Button size="xs" leftSection={<PlusIcon />} onClick={() => openLaunch({})}>
                    New session
                  </Button>
                </span>
                <span className={styles.narrow}>
                  <ActionIcon size="lg" aria-label="New session" onClick={() => openLaunch({})}>
                    <PlusIcon />
                  </ActionIcon>
                </span>
              </>
            )}
          </div>
        </header>
        <Navigation />
        <main className={styles.main} id="main" ref={main} tabIndex={-1}>
          <LostBanner />
          <Suspense fallback={<PageLoading />}>
            <Pages />
          </Suspense>
        </main>
      </div>
      <Suspense fallback={null}>
        {paletteCalls > 0 && <CommandPalette calls={paletteCalls} />}
        {isHelpOpen && <ShortcutHelp onClose={() => setHelpOpen(false)} />}
        {launch !== null && <LaunchDialog preset={launch} onClose={() => setLaunch(null)} />}
      </Suspense>
    </LaunchContext>
  );
}

function Pages() {
  return (
    <Switch>
      <Route path="/" component={BoardPage} />
      <Route path="/fleet" component={FleetPage} />
      <Route path="/records" component={RecordsPage} />
      <Route path="/worktrees" component={WorktreesPage} />
      <Route path="/audit" component={AuditPage} />
      <Route path="/settings" component={SettingsPage} />
      <Route path="/sessions/:sessionId">
        {({ sessionId }) => <SessionPage key={sessionId} id={sessionId} />}
      </Route>
      <Route path="/nodes/:nodeId/workspaces/:workspaceId">
        {({ nodeId, workspaceId }) => (
          <WorkspacePage key={`${nodeId} ${workspaceId}`} nodeId={nodeId} workspaceId={workspaceId} />
        )}
      </Route>
      <Route>
        <Page title="Nothing here">
          <Empty title="This address leads nowhere" />
        </Page>
      </Route>
    </Switch>
  );
}

function PageLoading() {
  return (
    <Page title="Loading">
      <LoadingRows />
    </Page>
  );
}

function Navigation() {
  const [location] = useLocation();
  // Those that wait are at the beginning.
  const view = useViewSoFar();
  const { role } = useMe();
  const waiting = view === null ? 0 : waitingSessions(view).length;
  return (
    <nav className={styles.nav} aria-label="Pages">
      {PAGES.filter((page) => includesRole(role, page.role)).map(({ path, label, icon: Icon }) => (
        <Link
          key={path}
          href={path}
          className={styles.link}
          aria-current={isAt(location, path) ? 'page' : undefined}
        >
          <Icon />
          {label}
          {path === '/' && waiting > 0 && (
            <span className={styles.count}>
              {waiting}
              <span className="roost-hidden"> waiting for you</span>
            </span>
          )}
        </Link>
      ))}
    </nav>
  );
}

function isAt(location: string, path: string): boolean {
  if (path === '/') return location === '/' || location.startsWith('/sessions/');
  return location.startsWith(path) || (path === '/fleet' && location.startsWith('/nodes/'));
}

/** Says that what is shown is not of now. */
function LostBanner() {
  const { line, since, error, view } = useMirror();
  if (line === 'lost' && view !== null) {
    return (
      <div className={styles.banner} role="status">
        The line to the hub was lost <Ago since={since} />. This is what was known then; it is tried again.
      </div>
    );
  }
  if (line === 'ended' && error !== null) {
    return (
      <div className={styles.banner}>
        <FailureAlert
          error={error}
          title="Nothing new comes from the hub"
          onRetry={() => location.reload()}
        />
      </div>
    );
  }
  return null;
}

const LINE_WORDS = {
  connecting: { text: 'connecting', tone: 'busy', isMoving: true },
  live: { text: 'live', tone: 'ok', isMoving: false },
  lost: { text: 'hub lost', tone: 'bad', isMoving: true },
  ended: { text: 'ended', tone: 'bad', isMoving: false },
} as const;

function HubLine() {
  const { line } = useMirror();
  return (
    <span className={styles.wide}>
      <Status {...LINE_WORDS[line]} />
    </span>
  );
}

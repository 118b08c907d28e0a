// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { viewOf, type HubMirror, type HubView, type MirrorState } from '@roost/client/browser';
import type { Whoami } from '@roost/protocol';
import type { Hub } from '../hub/hub.ts';
import { HubProvider, MeProvider } from '../hub/hub-context.tsx';
import { makeQueryClient } from '../hub/queries.ts';
import { node, session } from '../testing/things.ts';
import { BoardPage } from './board-page.tsx';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const OBSERVER: Whoami = { kind: 'user', user: null, role: 'observer', scope: null, expiresAt: null };

/** Answers how to show another view of the same hub. */
function show(view: HubView | null, me: Whoami = OBSERVER, beginning: HubView | null = null) {
  let state: MirrorState = { view, beginning, line: 'live', since: 0, error: null };
  let tell = (): void => undefined;
  const subscribe = (listener: () => void) => {
    tell = listener;
    return () => undefined;
  };
  const mirror = { state: () => state, subscribe } as unknown as HubMirror;
  // Nothing is asked for: no card has a screen here.
  const hub = { mirror } as Hub;
  render(
    <MantineProvider withCssVariables={false} withGlobalClasses={false}>
      <QueryClientProvider client={makeQueryClient()}>
        <HubProvider hub={hub}>
          <MeProvider me={me}>
            <BoardPage />
          </MeProvider>
        </HubProvider>
      </QueryClientProvider>
    </MantineProvider>,
  );
  return (next: HubView): void => {
    state = { ...state, view: next, beginning: null };
    tell();
  };
}
const lists = { nodes: [], sessions: [], records: [], workspaces: [] };

test('until the lists are read, their place is held', () => {
  show(null);
  expect(screen.getByRole('status', { name: 'Loading' })).toBeTruthy();
});

test('a hub without machines says how to add one', () => {
  show(viewOf(lists));
  expect(screen.getByText('No machine belongs to this hub yet')).toBeTruthy();
});

test('whoever may only look is offered no new session', () => {
  show(viewOf({ ...lists, nodes: [node()] }));
  expect(screen.getByText('Nothing runs now')).toBeTruthy();
  expect(screen.queryByRole('button', { name: 'New session' })).toBeNull();
});

test('who may act is', () => {
  show(viewOf({ ...lists, nodes: [node()] }), { ...OBSERVER, role: 'operator' });
  expect(screen.getByRole('button', { name: 'New session' })).toBeTruthy();
});

test('a session of a node that is away is shown as it was last seen', () => {
  const sessions = [session({ name: 'builder', transport: 'pipe' })];
  show(viewOf({ ...lists, nodes: [node({ state: 'offline', reason: 'connection-lost' })], sessions }));
  expect(screen.getByRole('link', { name: /builder.*offline: as last seen/ })).toBeTruthy();
});

test('of many sessions those at the top are drawn, and more when somebody asks', async () => {
  const sessions = Array.from({ length: 70 }, (_, index) =>
    session({ name: `s${index}`, transport: 'pipe' }),
  );
  // Each time something is drawn: how many cards there are.
  const drawn: number[] = [];
  const observer = new MutationObserver((changes) => {
    for (const { addedNodes } of changes)
      for (const one of addedNodes) if (one instanceof HTMLElement && one.matches('li')) drawn.push(1);
  });
  observer.observe(document.body, { childList: true, subtree: true });
  show(viewOf({ ...lists, nodes: [node()], sessions }));
  await waitFor(() => expect(screen.getAllByRole('link')).toHaveLength(60));
  observer.disconnect();
  // A dozen came with the page, the others one by one after it.
  expect(drawn).toHaveLength(48);
  fireEvent.click(screen.getByRole('button', { name: 'Show 10 more' }));
  await waitFor(() => expect(screen.getAllByRole('link')).toHaveLength(70));
});

test('of a hub with much its beginning is shown, and that there is more', () => {
  show(null, OBSERVER, viewOf({ ...lists, nodes: [node()], sessions: [session({ name: 'builder' })] }));
  expect(screen.getByRole('link', { name: /builder/ })).toBeTruthy();
  expect(screen.getByRole('heading', { name: 'Running · 1…' })).toBeTruthy();
  expect(screen.getByRole('status', { name: 'Loading' })).toBeTruthy();
});

test('the beginning is never taken for everything', async () => {
  const beginning = { ...lists, nodes: [node()], sessions: [session({ name: 'builder' })] };
  const showNext = show(null, OBSERVER, viewOf(beginning));
  const headings: string[] = [];
  const observer = new MutationObserver(() => {
    headings.push(screen.getByRole('heading', { level: 2 }).textContent);
  });
  observer.observe(document.body, { childList: true, characterData: true, subtree: true });
  const sessions = [...beginning.sessions, session({ name: 'tester' })];
  // Not in an `act`, which would hide what is drawn in between.
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', false);
  showNext(viewOf({ ...beginning, sessions }));
  await waitFor(() => expect(screen.getByRole('link', { name: /tester/ })).toBeTruthy());
  observer.disconnect();
  expect(headings).not.toContain('Running · 1');
  expect(screen.getByRole('heading', { name: 'Running · 2' })).toBeTruthy();
});

test('nothing is said to be all there is before everything is read', () => {
  show(null, OBSERVER, viewOf({ ...lists, nodes: [node()] }));
  expect(screen.queryByText('Nothing runs now')).toBeNull();
  expect(screen.getByRole('status', { name: 'Loading' })).toBeTruthy();
});

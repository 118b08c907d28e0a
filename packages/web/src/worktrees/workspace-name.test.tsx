// @vitest-environment happy-dom
import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import type { WorkspaceId } from '@roost/protocol';
import type { Hub } from '../hub/hub.ts';
import { HubProvider } from '../hub/hub-context.tsx';
import { makeQueryClient } from '../hub/queries.ts';
import { NODE_ID } from '../testing/things.ts';
import { WorkspaceName } from './workspace-name.tsx';

afterEach(cleanup);

const idOf = (digit: string) => `wt-${digit.repeat(16)}` as WorkspaceId;

/** Shows one after the other, at a node that has these leases; answers how often it was asked. */
function show() {
  const leases: { workspaceId: WorkspaceId; branch: string }[] = [];
  let asked = 0;
  const node = () => {
    asked++;
    return Promise.resolve({ leases: [...leases] });
  };
  const hub = { api: { node } } as unknown as Hub;
  const client = makeQueryClient();
  const page = (ids: readonly WorkspaceId[]) => (
    <QueryClientProvider client={client}>
      <HubProvider hub={hub}>
        {ids.map((id) => (
          <WorkspaceName key={id} nodeId={NODE_ID} workspaceId={id} />
        ))}
      </HubProvider>
    </QueryClientProvider>
  );
  const { rerender } = render(page([]));
  return { leases, asked: () => asked, names: (...ids: WorkspaceId[]) => rerender(page(ids)) };
}

test('a workspace that is no managed worktree has its id, and nobody is asked', () => {
  const { asked, names } = show();
  names('shop' as WorkspaceId);
  expect(screen.getByText('shop')).toBeTruthy();
  expect(asked()).toBe(0);
});

test('a managed one has its branch, which is read once, and again for one that came later', async () => {
  const { leases, asked, names } = show();
  leases.push({ workspaceId: idOf('1'), branch: 'roost/fix' });
  names(idOf('1'));
  expect((await screen.findByText('roost/fix')).title).toBe(idOf('1'));
  leases.push({ workspaceId: idOf('2'), branch: 'roost/next' });
  names(idOf('1'), idOf('2'));
  await screen.findByText('roost/next');
  names(idOf('2'));
  expect(asked()).toBe(2);
});

test('one that its node does not know any more has its id', async () => {
  const { asked, names } = show();
  names(idOf('3'));
  await expect.poll(asked).toBe(1);
  expect(screen.getByText(idOf('3'))).toBeTruthy();
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HubRole, type HubScope } from '@roost/protocol';
import { nodeId, workspace } from './access-for-test.ts';
import { isWithin, meet, meetScopes, type Bounds } from './bounds.ts';
import { seesNode, workspacesOf } from './principal.ts';

const NODES = [1, 2, 3].map(nodeId);
const WORKSPACES = ['a', 'b', 'c'].map(workspace);

const anyScope: fc.Arbitrary<HubScope | null> = fc.option(
  fc.array(
    fc.record({
      nodeId: fc.constantFrom(...NODES),
      workspaceIds: fc.option(fc.uniqueArray(fc.constantFrom(...WORKSPACES), { minLength: 1 })),
    }),
    { maxLength: 4 },
  ),
);
const anyBounds: fc.Arbitrary<Bounds> = fc.record({
  role: fc.constantFrom(...HubRole.options),
  scope: anyScope,
});

/** Asks the rules that everything else asks as well. */
function reaches(scope: HubScope | null, node: number, at: number): boolean {
  const id = NODES[node]!;
  const workspaces = workspacesOf({ scope }, id);
  return seesNode({ scope }, id) && (workspaces === null || workspaces.has(WORKSPACES[at]!));
}
const everywhere = NODES.flatMap((_, node) => WORKSPACES.map((__, at) => [node, at] as const));

describe('two bounds', () => {
  it('meet in the places that both reach', () => {
    fc.assert(
      fc.property(anyScope, anyScope, (one, other) => {
        const both = meetScopes(one, other);
        for (const [node, at] of everywhere)
          expect(reaches(both, node, at)).toBe(reaches(one, node, at) && reaches(other, node, at));
        expect(isWithin(both, one) && isWithin(both, other)).toBe(true);
      }),
    );
  });

  it('are within each other when every place of one is a place of the other', () => {
    fc.assert(
      fc.property(anyScope, anyScope, (one, other) => {
        if (isWithin(one, other))
          for (const [node, at] of everywhere)
            expect(!reaches(one, node, at) || reaches(other, node, at)).toBe(true);
        expect(isWithin(one, one)).toBe(true);
        expect(isWithin(one, null)).toBe(true);
      }),
    );
    const some = [{ nodeId: NODES[0]!, workspaceIds: [WORKSPACES[0]!] }];
    const whole = [{ nodeId: NODES[0]!, workspaceIds: null }];
    expect([isWithin(some, whole), isWithin(whole, some), isWithin(null, whole), isWithin([], some)]).toEqual(
      [true, false, false, true],
    );
  });

  it('give the lesser role, and administer nothing when either is bound to some nodes', () => {
    fc.assert(
      fc.property(anyBounds, anyBounds, (one, other) => {
        const { role, scope } = meet(one, other);
        const rank = (of: HubRole) => HubRole.options.indexOf(of);
        expect(rank(role)).toBeLessThanOrEqual(Math.min(rank(one.role), rank(other.role)));
        if (role === 'admin') expect(scope).toBeNull();
        expect(meet(one, other).role).toBe(meet(other, one).role);
      }),
    );
  });
});

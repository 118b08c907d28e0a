// The branch of a new worktree, from its profile's template. Git itself says later whether it takes the name.
import { BranchName, FailureError, type LeaseId, type WorktreeProfile } from '@roost/protocol';

/** @throws FailureError: invalid-request when what comes out can be no branch. */
export function branchFor(
  { branchTemplate }: Pick<WorktreeProfile, 'branchTemplate'>,
  leaseId: LeaseId,
  asked: { readonly name: string | null; readonly branch: string | null },
): BranchName {
  const name = asked.name ?? leaseId;
  const isTemplate = branchTemplate.includes('{name}') || branchTemplate.includes('{id}');
  const template = isTemplate ? branchTemplate : `${branchTemplate.replace(/\/+$/, '')}/{name}`;
  const made =
    asked.branch ?? template.replaceAll(/\{(name|id)\}/g, (_, key) => (key === 'id' ? leaseId : name));
  const parsed = BranchName.safeParse(made);
  if (parsed.success) return parsed.data;
  throw new FailureError('invalid-request', { issues: [`the branch ${made} is refused`] });
}

/** Pages of lists and forms: one part of the program, loaded with the first of them. */
export { AuditPage } from '../audit/audit-page.tsx';
export { FleetPage } from '../fleet/fleet-page.tsx';
export { RecordsPage } from '../records/records-page.tsx';
export { SettingsPage } from '../settings/settings-page.tsx';
export { WorktreesPage } from '../worktrees/worktrees-page.tsx';

export { readProcessTable, processStart } from './table.ts';
export { sameProcess, type ProcessEntry, type ProcessTable } from './process-entry.ts';
export { sessionMembers } from './membership.ts';
export { SESSION_MARKER, ROOST_PROCESS_MARKER } from './markers.ts';
export { endProcesses, type EndOptions, type EndOutcome } from './end.ts';
export { treeUsage, type TreeUsage } from './usage.ts';

export { processStart, readProcessTable, type ProcessEntry, type ProcessTable } from './table.ts';
export { sessionMembers, SESSION_MARKER, ROOST_PROCESS_MARKER } from './membership.ts';
export { endProcesses, type EndOutcome } from './end.ts';

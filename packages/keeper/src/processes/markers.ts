/** Environment variables by which a process is known, whatever its parent, group or kernel session became. */

/** The keeper sets it for each child; descendants inherit it. */
export const SESSION_MARKER = 'ROOST_SESSION_ID';

/** Set for the daemons of Roost. One that an agent started is no part of the agent's session, nor is what it started. */
export const ROOST_PROCESS_MARKER = 'ROOST_PROCESS';

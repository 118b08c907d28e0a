/** Versions of the control protocol that this build speaks. What can be told by a capability needs no new version. */
export const PROTOCOL_MIN = 2;
export const PROTOCOL_MAX = 2;

export * from './hub-address.ts';
export * from './pinned-agent.ts';
export * from './proof.ts';
export * from './reconnect-delay.ts';
export * from './watch-liveness.ts';

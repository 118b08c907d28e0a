export * from './access.ts';
export * from './event-stream.ts';
export * from './http-route.ts';
export * from './ids.ts';
export * from './node-routes.ts';
export * from './operations.ts';
export * from './relay.ts';
export * from './views.ts';

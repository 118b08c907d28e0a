// GET /api/v1/events.
import type { FastifyInstance } from 'fastify';
import { FailureError, HUB_EVENTS_PATH, parseCursor } from '@roost/protocol';
import { authenticateRequest } from './authenticate-request.ts';
import type { HubContext } from './context.ts';
import { EventFeed } from './event-feed.ts';
import { streamSink } from './event-stream.ts';

export function addEventRoutes(app: FastifyInstance, context: HubContext): void {
  const { fleet, lines, monotonicNow } = context;
  app.get<{ Querystring: { after?: unknown } }>(
    HUB_EVENTS_PATH,
    { config: { operation: 'events' } },
    (request, reply) => {
      const principal = authenticateRequest(context, request.raw);
      if (principal === null) throw new FailureError('unauthenticated');
      // A browser that comes back says where it was, whatever the address says.
      const after = request.headers['last-event-id'] ?? request.query.after;
      const cursor = typeof after === 'string' ? parseCursor(after) : null;
      if (after !== undefined && cursor === null)
        throw new FailureError('invalid-request', { field: 'after' });
      lines.requirePlace(principal);

      reply.hijack();
      const response = reply.raw;
      for (const [name, value] of Object.entries(reply.getHeaders()))
        if (value !== undefined) response.setHeader(name, value);
      response.setHeader('content-type', 'text/event-stream; charset=utf-8');
      // Proxies are asked not to hold it back.
      response.setHeader('x-accel-buffering', 'no');
      response.flushHeaders();
      const feed = new EventFeed({ fleet, principal, monotonicNow }, cursor, streamSink(response));
      response.on('drain', () => feed.drained());
      response.on('error', () => response.destroy());
      const check = () => {
        if (feed.isStalled) response.destroy();
        else feed.alive();
      };
      const ended = lines.add({ principal, end: () => response.end(), check });
      response.once('close', () => {
        ended();
        feed.close();
      });
    },
  );
}

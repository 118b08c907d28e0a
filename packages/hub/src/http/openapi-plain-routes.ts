// What is no operation, in the API document: events, WebSockets, health.
import {
  HUB_EVENTS_PATH,
  HUB_EVENTS_SOCKET_PATH,
  HubEvent,
  HubEventMessage,
  NodeSelector,
  RELAY_PATH,
  RelayOpen,
} from '@roost/protocol';
import { exampleOf } from './example.ts';
import { responsesOf } from './openapi-failures.ts';
import type { Json, JsonObject, Schemas } from './openapi-schemas.ts';

const anyCredential: Json = [{ token: [] }, { browser: [] }];

/** By path. */
export function plainPaths(schemas: Schemas): JsonObject {
  return { [HUB_EVENTS_PATH]: { get: eventsObject(schemas) }, ...webSockets(schemas), ...plainRoutes() };
}

function eventsObject(schemas: Schemas): JsonObject {
  return {
    operationId: 'events.stream',
    summary: 'Streams what happens on all nodes as server-sent events; goes on after a cursor.',
    tags: ['events'],
    description:
      'Least role: observer. `id` is a cursor. The event `resync` says that lists are to be read anew, `alive` that nothing happened.',
    parameters: [
      {
        name: 'after',
        in: 'query',
        schema: { type: 'string' },
        description: 'Cursor of the last event that was seen.',
      },
      {
        name: 'last-event-id',
        in: 'header',
        schema: { type: 'string' },
        description: 'The same, as browsers send it.',
      },
    ],
    responses: {
      '200': {
        description: 'Each `data` is one of these.',
        content: {
          'text/event-stream': {
            schema: { type: 'string' },
            'x-roost-data': schemas.of(HubEvent, 'output'),
          },
        },
      },
      ...responsesOf([
        'invalid-request',
        'unauthenticated',
        'origin-refused',
        'rate-limited',
        'connections-exhausted',
      ]),
    },
    security: anyCredential,
  };
}

/** What becomes a WebSocket. */
function webSockets(schemas: Schemas): JsonObject {
  const refusals = responsesOf([
    'invalid-request',
    'unauthenticated',
    'forbidden',
    'unknown-node',
    'rate-limited',
    'connections-exhausted',
  ]);
  const opened = { '101': { description: 'It is a WebSocket from now on.' }, ...refusals };
  const selector = schemas.of(NodeSelector, 'input');
  return {
    [HUB_EVENTS_SOCKET_PATH]: {
      get: {
        operationId: 'events.webSocket',
        summary: 'Streams what happens on all nodes over a WebSocket, each message a JSON text.',
        tags: ['events'],
        parameters: [{ name: 'after', in: 'query', schema: { type: 'string' } }],
        responses: opened,
        security: anyCredential,
        'x-roost-message': schemas.of(HubEventMessage, 'output'),
      },
    },
    [RELAY_PATH]: {
      get: {
        operationId: 'nodes.connect',
        summary: 'Opens a line to a node: its own protocol, terminals and screens included.',
        tags: ['nodes'],
        parameters: [
          {
            name: 'node',
            in: 'path',
            required: true,
            schema: selector,
            example: exampleOf(selector, schemas.all()),
          },
        ],
        responses: opened,
        security: anyCredential,
        'x-roost-first-message': schemas.of(RelayOpen, 'input'),
      },
    },
  };
}

function plainRoutes(): JsonObject {
  const route = (
    operationId: string,
    summary: string,
    responses: JsonObject,
    security: Json = [],
  ): JsonObject => ({
    get: { operationId, summary, tags: ['hub'], responses, security },
  });
  const answers = { '200': { description: 'Yes.' }, '503': { description: 'No.' } };
  return {
    '/health': route(
      'hub.health',
      'Tells whether the hub can write, how its links are, and whether a node answers.',
      answers,
    ),
    '/ready': route('hub.ready', 'Tells whether the hub serves.', answers),
    '/metrics': route(
      'hub.metrics',
      'Counts, for Prometheus; for admins, and programs on the same machine.',
      { '200': { description: 'Text of Prometheus.' }, ...responsesOf(['unauthenticated', 'forbidden']) },
      anyCredential,
    ),
  };
}

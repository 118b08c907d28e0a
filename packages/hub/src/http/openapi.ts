// The API as an OpenAPI 3.1 document, from the operations tables: nothing of it is written by hand but what belongs to HTTP alone.
import * as z from 'zod';
import * as protocol from '@roost/protocol';
import {
  ACCESS_FAILURES,
  API_PREFIX,
  COMMON_FAILURES,
  CSRF_HEADER,
  DEADLINE_HEADER,
  FAILURE_SENTENCES,
  HUB_COMMON_FAILURES,
  HUB_EVENTS_PATH,
  HUB_OPERATIONS,
  HUB_ROUTING_FAILURES,
  hubReach,
  INCARNATION_HEADER,
  NODE_ROUTES,
  NodeSelector,
  OPERATIONS,
  type FailureCode,
  type HttpRoute,
  type OperationName,
} from '@roost/protocol';
import { isHubMutation, isNodeMutation } from '../access/mutations.ts';
import { exampleOf } from './example.ts';
import { FAILURE_STATUS } from './failure-status.ts';
import { Problem, PROBLEM_TYPE } from './problem.ts';
import { formsOf, hasBody, pathNames } from './read-params.ts';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

/** One route, with everything that is told of it. */
export interface DescribedRoute {
  readonly operation: string;
  readonly summary: string;
  readonly route: HttpRoute;
  /** null: nobody has to be known. */
  readonly role: protocol.HubRole | null;
  readonly isMutation: boolean;
  readonly isOfNode: boolean;
  readonly params: z.ZodType;
  readonly result: z.ZodType;
  readonly failures: readonly FailureCode[];
}

/** In the order of the tables: what the hub does itself, then what it passes on. */
export function describedRoutes(): readonly DescribedRoute[] {
  const ofHub = Object.values(HUB_OPERATIONS).map((one): DescribedRoute => ({
    operation: one.name,
    summary: one.summary,
    route: one.route,
    role: one.role === 'public' ? null : one.role === 'self' ? 'observer' : one.role,
    isMutation: isHubMutation(one.name),
    isOfNode: false,
    params: one.params,
    result: one.result,
    failures: unique([...one.failures, ...HUB_COMMON_FAILURES]),
  }));
  const ofNode = (Object.entries(NODE_ROUTES) as [OperationName, HttpRoute | null][]).flatMap(
    ([name, route]) => {
      const reach = hubReach(name);
      if (route === null || reach === 'never') return [];
      const { summary, access, params, result, failures } = OPERATIONS[name];
      const all = [
        ...failures,
        ...ACCESS_FAILURES[access],
        ...HUB_ROUTING_FAILURES,
        ...COMMON_FAILURES,
        ...HUB_COMMON_FAILURES,
      ];
      const described: DescribedRoute = {
        operation: name,
        summary,
        route,
        role: reach,
        isMutation: isNodeMutation(name),
        isOfNode: true,
        params,
        result,
        failures: unique(all),
      };
      return [described];
    },
  );
  return [...ofHub, ...ofNode];
}

export function openApiDocument(version: string): JsonObject {
  const schemas = new Schemas();
  const problem = schemas.of(Problem, 'output');
  const paths: Record<string, Record<string, Json>> = {};
  for (const described of describedRoutes()) {
    const path = (paths[API_PREFIX + described.route.path] ??= {});
    path[described.route.method.toLowerCase()] = operationObject(described, schemas);
  }
  paths[HUB_EVENTS_PATH] = { get: eventsObject(schemas) };
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: {
      title: 'Roost hub',
      version,
      description:
        'Sessions of AI coding agents on many nodes. Failures are problem details with a closed list of codes; the same code always has the same status.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: tagsOf(describedRoutes()),
    paths,
    components: {
      schemas: { ...schemas.all(), FailureCode: failureCodes() },
      responses: problemResponses(problem),
      headers: {
        RequestId: { description: 'Of this request, as in the audit log.', schema: { type: 'string' } },
      },
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'A personal token: `roost_hub_` and 64 hexadecimal digits.',
        },
        browser: {
          type: 'apiKey',
          in: 'cookie',
          name: 'roost_HUBID',
          description: `The cookie of a login. A request that changes something carries the header \`${CSRF_HEADER}\` as well.`,
        },
      },
    },
  };
}

function operationObject({ operation, ...described }: DescribedRoute, schemas: Schemas): JsonObject {
  const { route, params, result, summary, role, isMutation } = described;
  const input = schemas.objectOf(params);
  const inPath = new Set(pathNames(route.path));
  const body = hasBody(route.method) ? bodyOf(input, inPath) : null;
  return {
    operationId: operation,
    summary,
    tags: [tagOf(operation)],
    description:
      role === null ? 'Nobody has to be known.' : `Least role: ${role}.${isMutation ? ' Audited.' : ''}`,
    parameters: parametersOf(described, input),
    ...(body === null
      ? {}
      : { requestBody: { required: body.required, content: { 'application/json': body.content } } }),
    responses: {
      '200': {
        description: 'Done.',
        headers: { 'x-request-id': { $ref: '#/components/headers/RequestId' } },
        content: { 'application/json': { schema: schemas.of(result, 'output') } },
      },
      ...responsesOf(described.failures),
    },
    security: role === null ? [] : [{ token: [] }, { browser: [] }],
    'x-roost-failures': [...described.failures],
    'x-roost-role': role,
  };
}

function parametersOf(
  { route, params, isOfNode, isMutation }: Omit<DescribedRoute, 'operation'>,
  input: InputObject,
): Json[] {
  const forms = formsOf(params);
  const found: Json[] = [];
  for (const name of pathNames(route.path)) {
    const schema = input.properties[name] ?? z.toJSONSchema(NodeSelector, { io: 'input' });
    found.push({ name, in: 'path', required: true, schema: plain(schema) });
  }
  if (!hasBody(route.method))
    for (const [name, schema] of Object.entries(input.properties)) {
      if (pathNames(route.path).includes(name)) continue;
      const isJson = forms.get(name) === 'json';
      found.push({
        name,
        in: 'query',
        required: input.required.includes(name),
        ...(isJson ? { content: { 'application/json': { schema } } } : { schema }),
      });
    }
  if (isOfNode) {
    const incarnation =
      'The start of the node that it is meant for; refused as `stale-incarnation` when it was started anew.';
    found.push(
      { name: INCARNATION_HEADER, in: 'header', description: incarnation, schema: { type: 'string' } },
      {
        name: DEADLINE_HEADER,
        in: 'header',
        description: 'Milliseconds that the node may take.',
        schema: { type: 'integer' },
      },
    );
  }
  if (isMutation)
    found.push({
      name: CSRF_HEADER,
      in: 'header',
      description: 'Any value; needed with a cookie.',
      schema: { type: 'string' },
    });
  return found;
}

function bodyOf(
  { properties, required, rest }: InputObject,
  inPath: ReadonlySet<string>,
): { content: JsonObject; required: boolean } {
  const own = Object.fromEntries(Object.entries(properties).filter(([name]) => !inPath.has(name)));
  const needed = required.filter((name) => !inPath.has(name));
  const schema = {
    ...rest,
    type: 'object',
    properties: own,
    ...(needed.length === 0 ? {} : { required: needed }),
    additionalProperties: false,
  };
  return { content: { schema, example: exampleOf(schema) }, required: needed.length > 0 };
}

function responsesOf(failures: readonly FailureCode[]): JsonObject {
  const statuses = [...new Set(failures.map((code) => FAILURE_STATUS[code]))].sort(
    (one, other) => one - other,
  );
  return Object.fromEntries(
    statuses.map((status) => [String(status), { $ref: `#/components/responses/Problem${status}` }]),
  );
}

function problemResponses(problem: Json): JsonObject {
  const codes = Object.entries(FAILURE_STATUS) as [FailureCode, number][];
  const statuses = [...new Set(codes.map(([, status]) => status))].sort((one, other) => one - other);
  return Object.fromEntries(
    statuses.map((status) => {
      const of = codes.filter(([, one]) => one === status).map(([code]) => code);
      const [first = 'internal-error'] = of;
      const example = {
        type: `urn:roost:failure:${first}`,
        title: FAILURE_SENTENCES[first],
        status,
        code: first,
        requestId: '0123456789abcdef',
      };
      const description = `One of: ${of.map((code) => `\`${code}\``).join(', ')}.`;
      return [`Problem${status}`, { description, content: { [PROBLEM_TYPE]: { schema: problem, example } } }];
    }),
  );
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
            'x-roost-data': schemas.of(protocol.HubEvent, 'output'),
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
    security: [{ token: [] }, { browser: [] }],
  };
}

function failureCodes(): JsonObject {
  return {
    type: 'string',
    oneOf: Object.entries(FAILURE_SENTENCES).map(([code, description]) => ({ const: code, description })),
  };
}

interface InputObject {
  readonly properties: Readonly<Record<string, Json>>;
  readonly required: readonly string[];
  /** What else the schema says, such as its description. */
  readonly rest: JsonObject;
}

/** Schemas that have a name in the protocol are components; all others stand where they are used. */
class Schemas {
  readonly #names = z.registry<{ id: string }>();
  readonly #components = new Map<string, Json>();

  constructor() {
    for (const [name, value] of Object.entries(protocol))
      if (value instanceof z.ZodType && /^[A-Z]/.test(name)) this.#names.add(value, { id: name });
  }

  of(type: z.ZodType, io: 'input' | 'output'): Json {
    const {
      $defs = {},
      $schema: _,
      ...schema
    } = z.toJSONSchema(type, {
      io,
      unrepresentable: 'any',
      metadata: this.#names,
      target: 'draft-2020-12',
    }) as { $defs?: Record<string, Json>; $schema?: string } & Record<string, Json>;
    // What is left out may be filled in: a schema is another one on its way in.
    const nameOf = (id: string) => (io === 'input' ? `${id}Input` : id);
    const own = typeof schema.id === 'string' ? schema.id : undefined;
    for (const [id, definition] of Object.entries($defs)) this.#put(nameOf(id), renamed(definition, nameOf));
    const made = renamed(schema, nameOf);
    if (own === undefined) return made;
    this.#put(nameOf(own), made);
    return { $ref: `#/components/schemas/${nameOf(own)}` };
  }

  objectOf(type: z.ZodType): InputObject {
    let schema = this.of(type, 'input');
    for (let ref = refOf(schema); ref !== null; ref = refOf(schema)) schema = this.#components.get(ref) ?? {};
    const {
      properties = {},
      required = [],
      type: _,
      additionalProperties: __,
      ...rest
    } = schema as Record<string, Json>;
    return { properties: properties as Record<string, Json>, required: required as string[], rest };
  }

  all(): JsonObject {
    return Object.fromEntries([...this.#components].sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  #put(name: string, schema: Json): void {
    this.#components.set(name, schema);
  }
}

function refOf(schema: Json): string | null {
  const ref = typeof schema === 'object' && schema !== null && '$ref' in schema ? schema.$ref : null;
  return typeof ref === 'string' ? ref.replace('#/components/schemas/', '') : null;
}

function renamed(schema: Json, nameOf: (id: string) => string): Json {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => {
      if (key === 'id' && typeof value === 'string') return undefined;
      if (key === '$ref' && typeof value === 'string')
        return value.replace(/^#\/\$defs\/(.+)$/, (_, id: string) => `#/components/schemas/${nameOf(id)}`);
      return value;
    }),
  ) as Json;
}

const plain = (schema: unknown): Json => {
  const { $schema: _, ...rest } = schema as Record<string, Json>;
  return rest;
};

const tagOf = (operation: string) => operation.split('.', 1)[0] ?? '';

function tagsOf(routes: readonly DescribedRoute[]): Json[] {
  return unique([...routes.map(({ operation }) => tagOf(operation)), 'events']).map((name) => ({ name }));
}

function unique<Value>(values: readonly Value[]): Value[] {
  return [...new Set(values)];
}

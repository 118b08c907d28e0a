// The API as an OpenAPI 3.1 document, from the operations tables: nothing of it is written by hand but what belongs to HTTP alone.
import { API_PREFIX, CSRF_HEADER, DEADLINE_HEADER, INCARNATION_HEADER, NodeSelector } from '@roost/protocol';
import { describedRoutes, type DescribedRoute } from './described-routes.ts';
import { exampleFor, exampleOf } from './example.ts';
import { failureCodes, problemResponses, responsesOf } from './openapi-failures.ts';
import { plainPaths } from './openapi-plain-routes.ts';
import { Schemas, type InputObject, type Json, type JsonObject } from './openapi-schemas.ts';
import { Problem } from './problem.ts';
import { formsOf, hasBody, pathNames } from './read-params.ts';

export function openApiDocument(version: string): JsonObject {
  const schemas = new Schemas();
  const problem = schemas.of(Problem, 'output');
  const paths: Record<string, Record<string, Json>> = {};
  for (const described of describedRoutes()) {
    const path = (paths[API_PREFIX + described.route.path] ??= {});
    path[described.route.method.toLowerCase()] = operationObject(described, schemas);
  }
  Object.assign(paths, plainPaths(schemas));
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
          description:
            'A personal token: `roost_hub_` and 64 hexadecimal digits. That of a hub whose certificate vouches for itself has a dot and ' +
            "the certificate's fingerprint, 64 more, behind it; it is taken with and without.",
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
  const body = hasBody(route.method) ? bodyOf(input, inPath, schemas) : null;
  return {
    operationId: operation,
    summary,
    tags: [tagOf(operation)],
    description:
      role === null ? 'Nobody has to be known.' : `Least role: ${role}.${isMutation ? ' Audited.' : ''}`,
    parameters: parametersOf(described, input, schemas),
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
  schemas: Schemas,
): Json[] {
  const forms = formsOf(params);
  const found: Json[] = [];
  for (const name of pathNames(route.path)) {
    const schema = input.properties[name] ?? schemas.of(NodeSelector, 'input');
    found.push({
      name,
      in: 'path',
      required: true,
      schema,
      example: exampleFor(name, schema, schemas.all()),
    });
  }
  if (!hasBody(route.method))
    for (const [name, schema] of Object.entries(input.properties)) {
      if (pathNames(route.path).includes(name)) continue;
      const example = exampleFor(name, schema, schemas.all());
      const isJson = forms.get(name) === 'json';
      found.push({
        name,
        in: 'query',
        required: input.required.includes(name),
        ...(isJson ? { content: { 'application/json': { schema, example } } } : { schema, example }),
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
  schemas: Schemas,
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
  return { content: { schema, example: exampleOf(schema, schemas.all()) }, required: needed.length > 0 };
}

const tagOf = (operation: string) => operation.split('.', 1)[0] ?? '';

function tagsOf(routes: readonly DescribedRoute[]): Json[] {
  return unique([...routes.map(({ operation }) => tagOf(operation)), 'events']).map((name) => ({ name }));
}

function unique<Value>(values: readonly Value[]): Value[] {
  return [...new Set(values)];
}

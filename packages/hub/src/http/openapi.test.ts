import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, it } from 'vitest';
import { FAILURE_CODES, HUB_OPERATIONS, NODE_ROUTES, hubReach, type OperationName } from '@roost/protocol';
import { apiPage } from './api-page.ts';
import { FAILURE_STATUS } from './failure-status.ts';
import { describedRoutes } from './described-routes.ts';
import { openApiDocument } from './openapi.ts';
import type { Json } from './openapi-schemas.ts';
import { pathNames } from './read-params.ts';

const document = openApiDocument('1.2.3');

it('is a valid OpenAPI 3.1 document', async () => {
  const result = await new Validator().validate(structuredClone(document));
  expect(result.errors).toBeUndefined();
  expect(result.valid).toBe(true);
});

it('refers to nothing that is not there', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
    ([, reference]) => reference ?? '',
  );
  expect(references.length).toBeGreaterThan(100);
  const missing = new Set(references.filter((reference) => find(reference) === undefined));
  expect([...missing]).toEqual([]);
});

it('has every operation that is on HTTP, once, on a route of its own', () => {
  const routes = describedRoutes();
  const onNodes = (Object.keys(NODE_ROUTES) as OperationName[]).filter(
    (name) => NODE_ROUTES[name] !== null && hubReach(name) !== 'never',
  );
  expect(routes.map(({ operation }) => operation)).toEqual([...Object.keys(HUB_OPERATIONS), ...onNodes]);
  const places = routes.map(({ route }) => `${route.method} ${route.path.replace(/\{\w+\}/g, '{}')}`);
  expect(new Set(places).size).toBe(places.length);
});

it('has every parameter of a path in it, required', () => {
  for (const { route } of describedRoutes()) {
    const operation = find(
      `#/paths/${`/api/v1${route.path}`.replaceAll('/', '~1')}/${route.method.toLowerCase()}`,
    );
    const { parameters } = operation as unknown as {
      parameters: { name: string; in: string; required?: boolean }[];
    };
    const inPath = parameters.filter((one) => one.in === 'path');
    expect(inPath.map(({ name }) => name)).toEqual(pathNames(route.path));
    expect(inPath.every(({ required }) => required === true)).toBe(true);
  }
});

it('has examples that its own schemas take', () => {
  for (const { operation, route, params } of describedRoutes()) {
    const told = find(
      `#/paths/${`/api/v1${route.path}`.replaceAll('/', '~1')}/${route.method.toLowerCase()}`,
    ) as unknown as {
      parameters: {
        name: string;
        in: string;
        required?: boolean;
        example?: Json;
        content?: { 'application/json': { example: Json } };
      }[];
      requestBody?: { content: { 'application/json': { example: object } } };
    };
    const given = told.parameters
      .filter((one) => one.in !== 'header' && one.required === true && one.name !== 'node')
      .map((one) => [one.name, one.example ?? one.content?.['application/json'].example] as const);
    const body = told.requestBody?.content['application/json'].example ?? {};
    const isOfNode = route.path.includes('{node}') && operation.startsWith('nodes.');
    const example = { ...(isOfNode ? { node: 'laptop' } : {}), ...Object.fromEntries(given), ...body };
    expect({ operation, example, error: params.safeParse(example).error?.issues }).toEqual({
      operation,
      example,
      error: undefined,
    });
  }
});

it('gives each failure one status', () => {
  expect(Object.keys(FAILURE_STATUS).sort()).toEqual([...FAILURE_CODES].sort());
  for (const status of Object.values(FAILURE_STATUS)) expect(status).toBeGreaterThanOrEqual(400);
});

it('is a page for people as well', () => {
  const page = apiPage('1.2.3');
  for (const { operation } of describedRoutes()) expect(page).toContain(`### ${operation}\n`);
  expect(page).toContain(
    `curl -X POST -H "Authorization: Bearer $ROOST_TOKEN" -H 'Content-Type: application/json'`,
  );
});

function find(reference: string): Json | undefined {
  return reference
    .slice(2)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<Json | undefined>(
      (found, name) =>
        typeof found === 'object' && found !== null ? (found as Record<string, Json>)[name] : undefined,
      document,
    );
}

// docs/api.md: the routes for people.
import { API_PREFIX, COMMON_FAILURES, HUB_COMMON_FAILURES, type FailureCode } from '@roost/protocol';
import { describedRoutes, type DescribedRoute } from './described-routes.ts';
import { FAILURE_STATUS } from './failure-status.ts';
import { openApiDocument } from './openapi.ts';
import type { Json } from './openapi-schemas.ts';
import { hasBody } from './read-params.ts';

/** What every operation can answer: said once. */
const COMMON: ReadonlySet<FailureCode> = new Set([...HUB_COMMON_FAILURES, ...COMMON_FAILURES]);

export function apiPage(version: string): string {
  const document = openApiDocument(version);
  const groups = new Map<string, DescribedRoute[]>();
  for (const one of describedRoutes()) {
    const name = one.operation.split('.', 1)[0] ?? '';
    groups.set(name, [...(groups.get(name) ?? []), one]);
  }
  return [
    '# The API of a hub',
    '',
    '```sh',
    'export ROOST_HUB=http://127.0.0.1:18320   # roost hub status tells the address',
    'roost hub user add ann --role admin',
    'export ROOST_TOKEN=$(roost hub token create curl --user ann)',
    'curl -H "Authorization: Bearer $ROOST_TOKEN" "$ROOST_HUB/api/v1/sessions"',
    '```',
    '',
    'Written by `npm run reference`; the same for programs is `docs/openapi.json`, and `/api/v1/openapi.json` of every hub. Every example is run by',
    'the tests: at a node called `laptop` with a workspace `shop`, directories and revisions being others. Ids that nobody can guess are variables:',
    '`$SESSION_ID` is the `id` of a session as the lists tell it. With a certificate that vouches for itself, `curl --cacert cert.pem`, or `--insecure`.',
    '',
    ...BASICS,
    `- Every operation can also answer: ${[...COMMON].map((code) => `\`${code}\``).join(', ')}.`,
    ...[...groups].flatMap(([name, routes]) => [
      '',
      `## ${name}`,
      ...routes.flatMap((one) => section(one, document)),
    ]),
    ...PLAIN,
    '',
    '## Failures',
    '',
    '| status | codes |',
    '|---|---|',
    ...statusRows(),
    '',
  ].join('\n');
}

const BASICS = [
  "- Who asks: `Authorization: Bearer TOKEN`, or the cookie of a browser that is logged in. The owner of the hub's directory needs neither at",
  '  its socket: `curl --unix-socket HOME/hub.sock http://localhost/api/v1/me`. A token in an address is refused.',
  '- Parameters of a GET or DELETE are in the query: texts, numbers and booleans as they are, lists by repetition, anything else as JSON.',
  '  Those of other methods are a JSON object in the body. Names that are not known are refused.',
  '- Refusals are `application/problem+json`: `code` is of a closed list, `requestId` is in the audit log and in the header `x-request-id`.',
  '- `{node}` is the name or id of a node. `If-Match: "INCARNATION"` (or `x-roost-incarnation`) asks only the start of the node that is meant;',
  '  `x-roost-deadline-ms` bounds how long it may take.',
  '- Lists of the hub come in pages: `next` is the `cursor` of the next one. `ETag` and `If-None-Match` work with all of its reads.',
  '- `/api/v1/events/ws` is the same as the events below over a WebSocket. `/api/v1/nodes/{node}/connect` is a line to the node itself, with',
  '  everything that it offers.',
];

/** What is no operation. */
const PLAIN = [
  '',
  '## events and health',
  '',
  'Streams what happens on all nodes; `?after=CURSOR` goes on after the `id` of an event. After `resync` read the lists anew.',
  '',
  '```sh',
  'curl --no-buffer -H "Authorization: Bearer $ROOST_TOKEN" "$ROOST_HUB/api/v1/events"',
  '```',
  '',
  'Tells whether the hub can write, how its links are, and whether a node answers: 200, or 503. `/ready` tells whether it serves.',
  '',
  '```sh',
  'curl "$ROOST_HUB/health"',
  '```',
  '',
  'Counts for Prometheus; for admins, and for programs on the same machine.',
  '',
  '```sh',
  'curl -H "Authorization: Bearer $ROOST_TOKEN" "$ROOST_HUB/metrics"',
  '```',
];

function section(
  { operation, summary, role, route, failures, isMutation }: DescribedRoute,
  document: Json,
): string[] {
  const own = failures.filter((code) => !COMMON.has(code)).map((code) => `\`${code}\``);
  const who = role === null ? 'Whoever reaches the hub.' : `Least role: ${role}.`;
  return [
    '',
    `### ${operation}`,
    '',
    `\`${route.method} ${API_PREFIX}${route.path}\``,
    '',
    `${summary} ${who}${isMutation ? ' Audited.' : ''}`,
    '',
    '```sh',
    curlOf({ route, role }, document),
    '```',
    ...(own.length === 0 ? [] : ['', `Failures: ${own.join(', ')}.`]),
  ];
}

function curlOf({ route, role }: Pick<DescribedRoute, 'route' | 'role'>, document: Json): string {
  const told = at(document, 'paths', API_PREFIX + route.path, route.method.toLowerCase());
  const parameters = (at(told, 'parameters') ?? []) as readonly Json[];
  const query = new URLSearchParams();
  let path = API_PREFIX + route.path;
  for (const parameter of parameters) {
    const name = JSON.stringify(at(parameter, 'name')).slice(1, -1);
    const example = at(parameter, 'example') ?? at(parameter, 'content', 'application/json', 'example');
    const text = typeof example === 'string' ? example : JSON.stringify(example);
    if (at(parameter, 'in') === 'path')
      path = path.replace(`{${name}}`, SOME_ID.test(text) ? variable(name) : text);
    else if (at(parameter, 'required') === true) query.set(name, text);
  }
  const parts = ['curl'];
  if (route.method !== 'GET') parts.push(`-X ${route.method}`);
  if (role !== null) parts.push('-H "Authorization: Bearer $ROOST_TOKEN"');
  if (hasBody(route.method)) {
    const example = at(told, 'requestBody', 'content', 'application/json', 'example');
    parts.push("-H 'Content-Type: application/json'", `-d '${JSON.stringify(example)}'`);
  }
  return [...parts, `"$ROOST_HUB${path}${query.size === 0 ? '' : `?${query.toString()}`}"`].join(' ');
}

/** Ids that are made, not chosen. */
const SOME_ID = /^(wt-)?[0-9a-f]{16,}$/;

/** `sessionId` as `$SESSION_ID`. */
function variable(name: string): string {
  return `$${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`;
}

function at(value: Json | undefined, ...names: readonly string[]): Json | undefined {
  return names.reduce<Json | undefined>(
    (found, name) =>
      typeof found === 'object' && found !== null && !Array.isArray(found)
        ? (found as Readonly<Record<string, Json>>)[name]
        : undefined,
    value,
  );
}

function statusRows(): string[] {
  const codes = Object.entries(FAILURE_STATUS);
  const statuses = [...new Set(codes.map(([, status]) => status))].sort((one, other) => one - other);
  return statuses.map((status) => {
    const of = codes.filter(([, one]) => one === status).map(([code]) => `\`${code}\``);
    return `| ${status} | ${of.join(', ')} |`;
  });
}

// Failures in the API document: one response for each status, with the codes that have it.
import { FAILURE_SENTENCES, type FailureCode } from '@roost/protocol';
import { FAILURE_STATUS } from './failure-status.ts';
import type { Json, JsonObject } from './openapi-schemas.ts';
import { PROBLEM_TYPE } from './problem.ts';

/** References to the responses of these. */
export function responsesOf(failures: readonly FailureCode[]): JsonObject {
  const statuses = [...new Set(failures.map((code) => FAILURE_STATUS[code]))].sort(
    (one, other) => one - other,
  );
  return Object.fromEntries(
    statuses.map((status) => [String(status), { $ref: `#/components/responses/Problem${status}` }]),
  );
}

/** `problem`: the schema of all of them. */
export function problemResponses(problem: Json): JsonObject {
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

export function failureCodes(): JsonObject {
  return {
    type: 'string',
    oneOf: Object.entries(FAILURE_SENTENCES).map(([code, description]) => ({ const: code, description })),
  };
}

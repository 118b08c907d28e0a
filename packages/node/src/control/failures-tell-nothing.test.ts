/** A failure carries a code and a fixed sentence; what went wrong in the words of the system stays in the node's log. */
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import {
  ConnectionId,
  FAILURE_CODES,
  FAILURE_SENTENCES,
  FailureError,
  OFFERED_CAPABILITIES,
  Projection,
} from '@roost/protocol';
import { Admission } from './admission.ts';
import type { Caller, Handlers } from './handlers.ts';

const SECRET = 'token=s3cret /home/somebody/private.db';
const caller = {
  connectionId: ConnectionId.parse(1),
  role: 'operator',
  clientName: 'test',
  projection: new Projection(OFFERED_CAPABILITIES),
  signal: new AbortController().signal,
} as Caller;

async function failureAndLog(thrown: unknown) {
  let written = '';
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      written += String(chunk);
      done();
    },
  });
  const handlers = {
    'node.status': () => {
      throw thrown;
    },
  } as unknown as Handlers;
  const lease = { admit: () => undefined };
  const admission = new Admission({ handlers, lease, log: pino({}, stream), checkResults: false });
  const { answer } = admission.admit({ operation: 'node.status', params: {} }, caller);
  const told = await answer.then(
    () => null,
    (error: unknown) => (error instanceof FailureError ? error.failure : null),
  );
  return { told, written };
}

it('of something unexpected tells no more than that, and the log has all of it', async () => {
  const { told, written } = await failureAndLog(new Error(SECRET));
  expect(told).toEqual({
    code: 'internal-error',
    message: FAILURE_SENTENCES['internal-error'],
    details: {},
  });
  expect(written).toContain(SECRET);
});

it.each(FAILURE_CODES)('of %s tells its sentence and not its cause', async (code) => {
  const { told, written } = await failureAndLog(
    new FailureError(code, { id: 'x' }, { cause: new Error(SECRET) }),
  );
  expect(told).toEqual({ code, message: FAILURE_SENTENCES[code], details: { id: 'x' } });
  expect(JSON.stringify(told)).not.toContain('s3cret');
  expect(written).toContain(SECRET);
});

it('of parameters names the place, and no value', async () => {
  const { answer } = new Admission({
    handlers: {} as Handlers,
    lease: { admit: () => undefined },
    log: pino({ enabled: false }),
    checkResults: false,
  }).admit({ operation: 'session.resolve', params: { selector: SECRET.repeat(9) } }, caller);
  const told = await answer.catch((error: unknown) => error);
  expect(told).toBeInstanceOf(FailureError);
  const { failure } = told as FailureError;
  expect(failure.code).toBe('invalid-request');
  expect(JSON.stringify(failure)).toContain('selector');
  expect(JSON.stringify(failure)).not.toContain('s3cret');
});

// The mock model server as a process: `--port N`, `--replies FILE` (a JSON list of replies), `--text TEXT` (the default
// answer), `--log FILE` (each request as a JSON line). Prints `{"url": ...}` once it listens; SIGTERM or SIGINT ends it.
import { appendFileSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type MockReply, isRecord } from './mock-server/replies.ts';
import { startMockModelServer } from './mock-server/server.ts';

const KINDS: readonly unknown[] = ['text', 'tools', 'error', 'rate-limit'] satisfies MockReply['kind'][];

function readReplies(file: string): MockReply[] {
  const document: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (!Array.isArray(document) || !document.every((one) => isRecord(one) && KINDS.includes(one.kind))) {
    throw new Error(`${file}: a list of replies with kind ${KINDS.join(', ')}`);
  }
  return document as MockReply[];
}

try {
  const { values } = parseArgs({
    options: {
      port: { type: 'string' },
      replies: { type: 'string' },
      text: { type: 'string' },
      log: { type: 'string' },
    },
  });
  const { log } = values;
  const server = await startMockModelServer({
    port: Number(values.port ?? 0),
    replies: values.replies === undefined ? [] : readReplies(values.replies),
    ...(values.text === undefined ? {} : { defaultReply: { kind: 'text', text: values.text } }),
    ...(log === undefined
      ? {}
      : {
          onRequest: ({ method, path, body }) =>
            appendFileSync(log, `${JSON.stringify({ method, path, body })}\n`),
        }),
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => void server.close().then(() => process.exit(0)));
  process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
} catch (error) {
  process.stderr.write(`mock-server: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(2);
}

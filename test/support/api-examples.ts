/** The examples of docs/api.md, run with curl as they stand there but for values that are others in reality, and held against docs/openapi.json. */
import { execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { FailureCode } from '@roost/protocol';
import { pageBlocks } from './page-blocks.ts';

interface Answer {
  readonly status: number;
  readonly text: string;
  /** undefined: it is no JSON. */
  readonly json: unknown;
}

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, unknown>>;
  readonly 'x-roost-failures'?: readonly FailureCode[];
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** What stands in an example, and what stands there in reality. */
export type Real = Readonly<Record<string, string>>;

export interface Circumstances {
  /** Variables that the example names. */
  readonly variables?: Readonly<Record<string, string>>;
  /** One that goes on for ever is ended when it has said this. */
  readonly until?: string;
}

/** Sections of the page that are no operations. */
const BEGINNING = 'The API of a hub';
const PLAIN = 'events and health';
/** Milliseconds for one that goes on for ever to say what is waited for. */
const UNTIL_MS = 30_000;

export class ApiExamples {
  /** Variables of every example. */
  env: Readonly<Record<string, string>> = {};
  /** What the page begins with. */
  readonly beginning: string;
  readonly #examples = new Map<string, string>();
  /** docs/openapi.json. */
  readonly document: Document = readDocument();
  readonly #operations = operationsOf(this.document);
  readonly #tried = new Set<string>();

  constructor() {
    const blocks = pageBlocks('api.md', 'sh');
    this.beginning = blocks.find(({ heading }) => heading === BEGINNING)?.code ?? '';
    for (const { heading, code } of blocks)
      if (heading !== BEGINNING) this.#examples.set(heading === PLAIN ? pathOf(code) : heading, code);
  }

  /** Those that were not run. */
  get left(): string[] {
    return [...this.#examples.keys()].filter((name) => !this.#tried.has(name));
  }

  /** Runs an example, by operation or path, and expects its 200. */
  async done(name: string, real: Real = {}, circumstances: Circumstances = {}): Promise<Answer> {
    const answer = await this.#run(name, real, circumstances);
    if (answer.status !== 200 || !('200' in this.#operation(name).responses))
      throw new Error(`${name}: ${answer.status} ${answer.text}`);
    return answer;
  }

  async fact<Result>(name: string, real: Real = {}): Promise<Result> {
    return (await this.done(name, real)).json as Result;
  }

  /** Runs an example and expects a failure that the document names. */
  async refused(
    name: string,
    code: FailureCode,
    real: Real = {},
    circumstances: Circumstances = {},
  ): Promise<void> {
    const { status, json, text } = await this.#run(name, real, circumstances);
    const { responses, 'x-roost-failures': failures } = this.#operation(name);
    const isNamed = failures?.includes(code) === true && String(status) in responses;
    if ((json as { code?: string }).code !== code || !isNamed) throw new Error(`${name}: ${status} ${text}`);
  }

  #operation(name: string): Operation {
    const operation = this.#operations.get(name);
    if (operation === undefined) throw new Error(`docs/openapi.json has no ${name}`);
    return operation;
  }

  #run(name: string, real: Real, { variables = {}, until }: Circumstances): Promise<Answer> {
    let example = this.#examples.get(name);
    if (example === undefined) throw new Error(`docs/api.md has no example of ${name}`);
    this.#tried.add(name);
    for (const [shown, one] of Object.entries(real)) example = example.replaceAll(shown, one);
    const env = { ...this.env, ...variables };
    return until === undefined ? runCurl(example, env) : runCurlUntil(example, env, until);
  }
}

export function hasCurl(): Promise<boolean> {
  return new Promise((resolve) => execFile('curl', ['--version'], (error) => resolve(error === null)));
}

function runCurl(example: string, env: Readonly<Record<string, string>>): Promise<Answer> {
  const command = `${example.trim()} --silent --show-error --write-out '\\n%{http_code}'`;
  return new Promise((resolve, reject) => {
    execFile('sh', ['-uc', command], { env, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      const at = stdout.lastIndexOf('\n');
      const status = Number(stdout.slice(at + 1));
      if (error !== null || !(status > 0)) {
        reject(new Error(`${command}: ${stderr}${stdout}`));
        return;
      }
      const text = stdout.slice(0, at);
      resolve({ status, text, json: parse(text) });
    });
  });
}

/** A curl that is ended writes nothing out: its status comes with the headers. */
function runCurlUntil(
  example: string,
  env: Readonly<Record<string, string>>,
  until: string,
): Promise<Answer> {
  const command = `exec ${example.trim()} --silent --show-error --include`;
  return new Promise((resolve, reject) => {
    const curl = spawn('sh', ['-uc', command], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const timer = setTimeout(() => curl.kill(), UNTIL_MS);
    let [stdout, stderr] = ['', ''];
    let answer: Answer | null = null;
    curl.stderr.setEncoding('utf8').on('data', (piece: string) => (stderr += piece));
    curl.stdout.setEncoding('utf8').on('data', (piece: string) => {
      stdout += piece;
      const [, status, text = ''] = /^HTTP\/\S+ (\d+)[\s\S]*?\r\n\r\n([\s\S]*)$/.exec(stdout) ?? [];
      if (!text.includes(until)) return;
      answer = { status: Number(status), text, json: undefined };
      curl.kill();
    });
    curl.once('error', reject);
    curl.once('close', () => {
      clearTimeout(timer);
      if (answer !== null) resolve(answer);
      else reject(new Error(`${command}: ${stderr}${stdout}`));
    });
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** By their names; those that are none of the table by their paths. */
function operationsOf({ paths }: Document): ReadonlyMap<string, Operation> {
  const found = new Map<string, Operation>();
  for (const [path, methods] of Object.entries(paths))
    for (const operation of Object.values(methods)) {
      found.set(operation.operationId, operation);
      found.set(path, operation);
    }
  return found;
}

function readDocument(): Document {
  return JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8')) as Document;
}

function pathOf(code: string): string {
  return /\$ROOST_HUB(\/[^"]*)"/.exec(code)?.[1] ?? code;
}

#!/usr/bin/env node
/**
 * An agent that speaks ACP and does what its prompts say, for tests; put on the PATH under the name of a provider.
 *
 *   say TEXT      says it, a word a message, and ends the turn
 *   burst TEXT    says it and ends the turn, in one write
 *   flood COUNT   says that many pieces of ten characters
 *   ask TOOL      asks for permission for a tool of that kind, says what it was told, ends the turn
 *   two TOOL      asks for two permissions at once
 *   wait          does nothing until it is cancelled
 *   long BYTES    writes one line that long, which is no message, then ends the turn
 *   die CODE      ends with that exit code
 *   bad           writes what nobody understands, then ends the turn
 *
 * Every line that it reads is kept in `received-PID` of its working directory, before anything is done about it.
 */
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

if (process.argv.includes('--version')) {
  console.log('0.15.10');
  process.exit(0);
}

const PROMPT_ENDS = { kind: 'end_turn' };
let session = null;
let turn = null;
let lastId = 1_000;
const asked = new Map();

const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const respond = (id, result) => write({ id, result });
const update = (more) => write({ method: 'session/update', params: { sessionId: session, update: more } });
const say = (text) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
const endTurn = (stopReason) => {
  if (turn === null) return;
  const { id } = turn;
  turn = null;
  respond(id, { stopReason });
};

function askFor(tool, done) {
  lastId += 1;
  const toolCallId = `call-${lastId}`;
  asked.set(lastId, done);
  write({
    id: lastId,
    method: 'session/request_permission',
    params: {
      sessionId: session,
      toolCall: {
        toolCallId,
        title: tool,
        kind: tool,
        status: 'pending',
        rawInput: { command: `${tool} secret-canary` },
      },
      options: [
        { optionId: 'always', name: 'Always', kind: 'allow_always' },
        { optionId: 'once', name: 'Once', kind: 'allow_once' },
        { optionId: 'no', name: 'No', kind: 'reject_once' },
      ],
    },
  });
}

const outcomeOf = ({ outcome }) => (outcome.outcome === 'selected' ? outcome.optionId : outcome.outcome);

const DEEDS = {
  say(text) {
    for (const word of text.split(' ')) say(`${word} `);
    endTurn(PROMPT_ENDS.kind);
  },
  burst(text) {
    process.stdout.cork();
    say(text);
    endTurn(PROMPT_ENDS.kind);
    process.stdout.uncork();
  },
  flood(count) {
    for (let at = 0; at < Number(count); at += 1) say('0123456789');
    endTurn(PROMPT_ENDS.kind);
  },
  ask(tool) {
    askFor(tool, (result) => {
      say(`told ${outcomeOf(result)}`);
      endTurn(PROMPT_ENDS.kind);
    });
  },
  two(tool) {
    const told = [];
    for (const one of [tool, tool]) {
      askFor(one, (result) => {
        told.push(outcomeOf(result));
        if (told.length < 2) return;
        say(`told ${told.join(' ')}`);
        endTurn(PROMPT_ENDS.kind);
      });
    }
  },
  wait() {
    say('waiting');
  },
  long(bytes) {
    process.stdout.write(`${'x'.repeat(Number(bytes))}\n`);
    say('after');
    endTurn(PROMPT_ENDS.kind);
  },
  die(code) {
    process.exit(Number(code));
  },
  bad() {
    process.stdout.write('{"jsonrpc":\nnot json\n');
    endTurn(PROMPT_ENDS.kind);
  },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  appendFileSync(`received-${process.pid}`, `${line}\n`);
  const { id, method, params, result } = JSON.parse(line);
  switch (method) {
    case 'initialize':
      respond(id, { protocolVersion: 1, agentCapabilities: { loadSession: true }, authMethods: [] });
      return;
    case 'session/new':
      session = `own-${process.pid}`;
      respond(id, { sessionId: session });
      return;
    case 'session/load':
      session = params.sessionId;
      say('of before');
      respond(id, {});
      return;
    case 'session/prompt': {
      turn = { id };
      const [deed, ...rest] = params.prompt[0].text.split(' ');
      DEEDS[deed](rest.join(' '));
      return;
    }
    case 'session/cancel':
      endTurn('cancelled');
      return;
    case undefined:
      asked.get(id)?.(result);
      asked.delete(id);
      return;
    default:
      write({ id, error: { code: -32601, message: 'Method not found' } });
  }
});
process.stdin.on('end', () => process.exit(0));

// Allows what agents ask leave for when it only reads; everything else waits for a person. Beside a node:
//   node examples/approve-reads.mjs
// From elsewhere, with ROOST_HUB (its URL), ROOST_TOKEN (roost hub token create) and ROOST_NODE (name or id) in the environment.
import { setTimeout } from 'node:timers/promises';
import * as roost from '@roost/client';

// Tools of Claude Code; APPROVE names others as PROVIDER:TOOL. What is read goes to the model: list what you would allow. Over ACP a tool
// is a kind (`read`, `search`) that the agent claims for itself, whatever it is about to do: none of them is allowed here.
const READS = new Set((process.env.APPROVE ?? 'claude:Read claude:Glob claude:Grep').split(' '));
const { ROOST_HUB: url, ROOST_TOKEN = '', ROOST_NODE: node } = process.env;
const client = { name: 'approve-reads', version: '1' };
const { secret: token, fingerprint } = roost.splitPinned(ROOST_TOKEN);
const socketPath = roost.nodeSocketPath(roost.resolveHome(process.env));
const connect = () =>
  url === undefined
    ? roost.connectNode({ socketPath, client })
    : roost.connectThroughHub({ url, token, fingerprint }, { node, client });
async function ask(operation, params) {
  for (;;) {
    try {
      const connection = await connect();
      return await connection.request(operation, params).finally(() => connection.close());
    } catch (error) {
      // Otherwise nobody was asked, or nobody heard the answer.
      if (!roost.isPassing(error) && error.failure?.code !== 'controller-busy') throw error;
      await setTimeout(1_000);
    }
  }
}
async function look({ id, provider, tool, state, interaction }) {
  if (state !== 'pending' || interaction !== 'approval' || !READS.has(`${provider}:${tool}`)) return;
  const settled = ask('interaction.resolve', { interactionId: id, reply: { kind: 'allow' } });
  // A failure: `interaction-settled` when somebody else was faster.
  console.log(`${provider}:${tool} ${id}:`, await settled.then((it) => it.outcome).catch((it) => it.message));
}
let truncated; // More waits than one answer holds: whenever something is settled, another one comes into it.
async function lookAtAll() {
  const list = await ask('interaction.list', {});
  truncated = list.truncated;
  for (const one of list.interactions) await look(one);
}
const first = await connect();
const after = { sequence: first.sequence, incarnation: first.node.incarnation };
first.close();
await lookAtAll();
const events = roost.followEvents({ connect, after, signal: new AbortController().signal });
for await (const { kind, body } of events) {
  if (body?.kind === 'interaction-changed') await look(body.interaction);
  if (kind === 'resync' || (truncated && body.kind === 'interaction-changed')) await lookAtAll();
}

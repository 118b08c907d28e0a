// Allows what agents ask leave for when it only reads; everything else waits for a person. Beside a node:
//   node examples/approve-reads.mjs
// From elsewhere, with ROOST_HUB (its URL), ROOST_TOKEN (roost hub token create) and ROOST_NODE (name or id) in the environment.
import { setTimeout } from 'node:timers/promises';
import * as roost from '@roost/client';

/** As Claude Code names its tools, and as ACP names kinds of them. What is read goes to the model: list what you would allow. */
const READS = new Set(['Read', 'Glob', 'Grep', 'read', 'search']);
/** Nobody was asked, or nobody heard the answer: asking again helps. */
const PASSING =
  /^(connection-lost|node-not-running|node-offline|hub-unreachable|shutting-down|controller-busy)$/;

const { ROOST_HUB: url, ROOST_TOKEN = '', ROOST_NODE: node } = process.env;
const client = { name: 'approve-reads', version: '1' };
const { secret: token, fingerprint } = roost.splitPinned(ROOST_TOKEN);
const connect = () =>
  url === undefined
    ? roost.connectNode({ socketPath: roost.nodeSocketPath(roost.resolveHome(process.env)), client })
    : roost.connectThroughHub({ url, token, fingerprint }, { node, client });

async function ask(operation, params) {
  for (;;) {
    try {
      const connection = await connect();
      return await connection.request(operation, params).finally(() => connection.close());
    } catch (error) {
      if (!(error instanceof roost.FailureError) || !PASSING.test(error.failure.code)) throw error;
      await setTimeout(1_000);
    }
  }
}

async function look({ id, state, interaction, tool }) {
  if (state !== 'pending' || interaction !== 'approval' || !READS.has(tool)) return;
  const answer = ask('interaction.resolve', { interactionId: id, reply: { kind: 'allow' } });
  // Somebody else may have been faster: `interaction-settled`.
  const outcome = await answer.then((settled) => settled.outcome).catch(({ message }) => message);
  console.log(`${tool} ${id}: ${outcome}`);
}
const lookAtAll = () =>
  ask('interaction.list', {}).then(({ interactions }) => Promise.all(interactions.map(look)));

const first = await connect();
const after = { sequence: first.sequence, incarnation: first.node.incarnation };
first.close();
await lookAtAll();
for await (const item of roost.followEvents({ connect, after, signal: new AbortController().signal })) {
  if (item.kind === 'resync') await lookAtAll();
  else if (item.body.kind === 'interaction-changed') await look(item.body.interaction);
}

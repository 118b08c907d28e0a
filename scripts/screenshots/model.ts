// What the model says to the agents of the demo.
import { join } from 'node:path';
import type { MockReply, RecordedRequest } from '@roost/lab';
import { LOGIN_CHECK } from './work.ts';

const REVIEW = `The cart now adds what sending costs, and sending is free from 50 on. Three things:

1. An empty cart costs 4.95: \`total([])\` adds the sending of nothing.
2. The sum is compared before any discount; say so, or move it behind them.
3. \`test/cart.test.ts\` tests the free sending only. A cart of 49.99 is the one that is worth a test.

The first is a fault; I would mend it before this goes out.`;

const CURRENCIES = `Prices would have to carry their currency, the cart would have to refuse a mix of two, and the mail would have to
name it. About two days, most of them for the orders that are there already.`;

const SLOW = Array.from({ length: 400 }, (_, page) => `Page ${page + 1} is as it should be. `).join('');

/** `shop`: the directory that the agents work in. */
export function replyTo(shop: string): (request: RecordedRequest) => MockReply {
  const file = join(shop, 'src', 'login.ts');
  return ({ body, prompt }) => {
    const { tools, messages } = body as { tools?: unknown[]; messages?: unknown[] };
    if (tools === undefined || tools.length === 0) return { kind: 'text', text: 'aside' };
    if (prompt.includes('every page')) return { kind: 'text', text: SLOW, pieceLength: 8, delayMs: 1_000 };
    if (prompt.includes('cart')) return { kind: 'text', text: REVIEW };
    if (prompt.includes('currencies')) return { kind: 'text', text: CURRENCIES };
    const results = JSON.stringify(messages ?? []).split('"tool_result"').length - 1;
    if (results === 0) {
      return {
        kind: 'tools',
        text: 'I will look at how somebody is found first.',
        calls: [{ name: 'Read', input: { file_path: file } }],
      };
    }
    if (results > 1)
      return { kind: 'text', text: 'Whoever is not there is refused like a wrong password now.' };
    return {
      kind: 'tools',
      text: '`find` answers undefined for somebody who is not there, and `user.hash` throws. One line mends it:',
      calls: [
        {
          name: 'Edit',
          input: {
            file_path: file,
            old_string: LOGIN_CHECK,
            new_string: LOGIN_CHECK.replace('user.hash !==', 'user === undefined || user.hash !=='),
          },
        },
      ],
    };
  };
}

/** The agent programs, as the node finds them. */
import { listProviders } from '../ask-providers.ts';
import type { CommandContext } from '../command-context.ts';
import { stateNote, versionText } from '../provider-view.ts';
import type { Finding } from './examine.ts';

/** Nothing when there is no node to ask: that has been said already. */
export async function* examineProviders(context: CommandContext): AsyncGenerator<Finding, void, void> {
  const answer = await listProviders(context).catch(() => null);
  if (answer === null) return;
  const absent: string[] = [];
  for (const { id, displayName, installed, discovery } of answer.providers) {
    const subject = `provider ${id}`.slice(0, 15);
    const note = discovery === undefined ? null : stateNote(discovery);
    if (!installed && note === null) {
      absent.push(id);
      continue;
    }
    const found = discovery?.path ?? displayName;
    if (note !== null) {
      yield { level: 'warn', subject, text: `${found}: ${note}; roost provider check ${id}` };
      continue;
    }
    const version = discovery === undefined ? '-' : versionText(discovery);
    yield { level: 'ok', subject, text: version === '-' ? found : `${found}, ${version}` };
  }
  if (absent.length > 0) {
    yield {
      level: absent.length >= answer.providers.length - 1 ? 'warn' : 'ok',
      subject: 'not found',
      text: `${absent.join(', ')}; roost provider check NAME   tells how to install one`,
    };
  }
  const home = await context.home();
  for (const { file, fault } of answer.faults ?? []) {
    yield { level: 'warn', subject: 'provider file', text: `${home}/providers/${file}: ${fault}` };
  }
}

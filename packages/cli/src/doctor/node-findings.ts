/** The node and its keepers, asked over the socket as any client would. */
import type { CommandContext } from '../command-context.ts';
import { describeFailure } from '../failure-report.ts';
import { VERSION } from '../version.ts';
import type { Finding } from './examine.ts';

export async function* examineNode(context: CommandContext): AsyncGenerator<Finding, void, void> {
  const subject = 'node';
  let status;
  let started: boolean;
  try {
    const opened = await context.open();
    started = opened.started;
    status = await opened.connection.request('node.status', {});
  } catch (error) {
    const lines = describeFailure(error).map((line) => line.replace(/^roost: /, '').trim());
    yield { level: 'fail', subject, text: lines.join(' ') };
    return;
  }
  yield {
    level: 'ok',
    subject,
    text: `${status.nodeId}, pid ${status.pid}, at ${status.socket}${started ? ', started just now' : ''}`,
  };
  if (status.listening.length > 0) {
    yield { level: 'ok', subject: 'listening', text: `beside the socket at ${status.listening.join(', ')}` };
  }
  if (status.version !== VERSION) {
    yield {
      level: 'warn',
      subject,
      text: `it is of version ${status.version}, this command of ${VERSION}; roost down && roost up`,
    };
  }
  if (status.keepers.length === 0) {
    yield { level: 'ok', subject: 'keeper', text: 'none; the next session starts one' };
  }
  for (const keeper of status.keepers) {
    yield {
      level: keeper.state === 'serving' ? 'ok' : 'warn',
      subject: 'keeper',
      text: `${keeper.id}, pid ${keeper.pid}, ${keeper.sessions} sessions, ${keeper.state}`,
    };
  }
  const { sessions } = await context
    .node()
    .then((connection) => connection.request('session.list', { includeEnded: true }));
  const lost = sessions.filter((session) => session.status === 'lost').length;
  yield lost === 0
    ? {
        level: 'ok',
        subject: 'sessions',
        text: `${status.sessions.live} live, ${status.sessions.ended} ended`,
      }
    : { level: 'warn', subject: 'sessions', text: `${lost} lost; roost ls --all   shows them` };
}

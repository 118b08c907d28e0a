import { KeeperId, SessionId, SessionName, WorkspaceId, type Session } from '@roost/protocol';

/** As large as sessions are. */
export const SESSION: Session = {
  id: SessionId.parse('0123456789abcdef'),
  recordId: null,
  generation: 1,
  name: SessionName.parse('a-session-of-usual-name'),
  provider: 'claude',
  transport: 'pty',
  status: 'running',
  workspaceId: WorkspaceId.parse('workspace-1'),
  directory: '/home/somebody/projects/something',
  command: ['claude', '--model', 'opus'],
  keeperId: KeeperId.parse('0123456789abcdef'),
  pid: 12_345,
  size: { columns: 120, rows: 40 },
  title: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  endedAt: null,
  exitCode: null,
  exitSignal: null,
  endReason: null,
  attachedClients: 1,
  usage: null,
};

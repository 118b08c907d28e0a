import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SessionName } from '@roost/protocol';
import { failureOf, startTestNode, TestClient, TestHome, waitFor } from '../node-for-test.ts';

let home: TestHome;
beforeEach(() => {
  home = new TestHome();
});
afterEach(() => home.remove());

const reported = (name: string) => join(home.path, 'sessions', name);

it('is run once for each time that a session comes to need somebody, and is told names only', async () => {
  const told = join(home.path, 'told');
  const script = `echo "$ROOST_SESSION_NAME $ROOST_STATE $ROOST_REASON $ROOST_DETAIL $ROOST_TEST_SECRET" >> ${told}`;
  writeFileSync(
    join(home.path, 'config.json'),
    JSON.stringify({ attention: { command: ['/bin/sh', '-c', script] } }),
  );
  const environment = { PATH: process.env.PATH, HOME: home.path, ROOST_TEST_SECRET: 'secret-canary' };
  const bin = join(home.path, 'claude');
  writeFileSync(bin, '#!/bin/sh\n[ "$1" = --version ] && exec echo 2.1.197\nexec sleep 60\n', {
    mode: 0o755,
  });
  const options = { environment: { ...environment, PATH: `${home.path}:${environment.PATH ?? ''}` } };
  let daemon = await startTestNode(home, options);
  try {
    let client = await TestClient.connect(daemon.socket);
    const { id } = await client.call('session.spawn', {
      directory: home.path,
      name: SessionName.parse('reviewer'),
      launch: { kind: 'provider', provider: 'claude', arguments: [] },
    });
    const report = (name: string, body: object) => {
      writeFileSync(join(reported(id), 'reports', `${name}.part`), JSON.stringify(body));
      writeFileSync(join(reported(id), 'reports', `${name}.json`), JSON.stringify(body));
    };
    await waitFor(() => existsSync(join(reported(id), 'reports')), 'the place for reports');
    report('1', {
      hook_event_name: 'PermissionRequest',
      tool_name: 'Bash',
      tool_input: { command: 'secret-canary' },
    });
    await waitFor(() => existsSync(told), 'the command');
    expect(readFileSync(told, 'utf8')).toBe('reviewer blocked approval Bash \n');
    client.close();
    await daemon.stop();
    daemon = await startTestNode(home, options);
    client = await TestClient.connect(daemon.socket);
    report('2', { hook_event_name: 'UserPromptSubmit', prompt: 'go on' });
    await waitFor(
      async () => (await client.call('session.resolve', { selector: id })).activity?.state === 'working',
      'work',
    );
    report('3', { hook_event_name: 'Stop' });
    await waitFor(() => readFileSync(told, 'utf8').split('\n').length === 3, 'the command again');
    expect(readFileSync(told, 'utf8')).toBe('reviewer blocked approval Bash \nreviewer done   \n');
    client.close();
  } finally {
    await daemon.stop();
  }
});

it('that is no command is refused at the start', async () => {
  writeFileSync(join(home.path, 'config.json'), JSON.stringify({ attention: { command: [] } }));
  expect(await failureOf(startTestNode(home))).toBe('home-unusable');
});

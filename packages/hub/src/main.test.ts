import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';

interface HubProcess {
  readonly child: ChildProcess;
  readonly told: { ready?: true; pid?: number; socket?: string; url?: string; failure?: { code: string } };
  readonly exit: Promise<{ code: number | null; signal: string | null }>;
}

let home: string;
let hubs: HubProcess[];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'roost-hub-'));
  writeFileSync(join(home, 'config.json'), '{"listen":{"port":0}}');
  hubs = [];
});
afterEach(async () => {
  for (const { child, exit } of hubs) {
    child.kill('SIGKILL');
    await exit;
  }
  rmSync(home, { recursive: true, force: true });
});

async function start(...args: string[]): Promise<HubProcess> {
  const script = join(inject('bundledNode'), 'hub.js');
  const child = spawn(process.execPath, [script, '--home', home, '--ready-fd', '3', ...args], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH, HOME: home, ROOST_LOG: 'debug' },
  });
  const exit = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  let text = '';
  for await (const chunk of child.stdio[3] as AsyncIterable<Buffer>) text += chunk.toString();
  const hub = { child, told: JSON.parse(text === '' ? '{}' : text) as HubProcess['told'], exit };
  hubs.push(hub);
  return hub;
}

const health = (socketPath: string): Promise<number> =>
  new Promise((resolve, reject) => {
    request({ socketPath, path: '/health', agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });

it('tells that it is ready, serves, and stops on SIGTERM', async () => {
  const { told, child, exit } = await start('--node-socket', join(home, 'no-node.sock'));
  expect(told).toMatchObject({ ready: true, pid: child.pid, socket: join(home, 'hub.sock') });
  expect(told.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(await health(told.socket!)).toBe(200);
  child.kill('SIGTERM');
  expect(await exit).toEqual({ code: 0, signal: null });
});

it('tells why it does not start, and starts over what a crash left', async () => {
  const first = await start();
  const second = await start();
  expect(second.told.failure?.code).toBe('hub-already-running');
  expect(await second.exit).toMatchObject({ code: 1 });
  first.child.kill('SIGKILL');
  await first.exit;
  const third = await start();
  expect(third.told.ready).toBe(true);
  expect(await health(third.told.socket!)).toBe(200);
});

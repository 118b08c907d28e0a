/** Commands of this build at a hub of another one, which is an HTTP server here that answers as that might. */
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isAlive, RoostHome } from '../support/roost-home.ts';

it.for([true, false])(
  'shows and stops a hub that tells less of itself than this build knows; its pid: %s',
  async (tellsPid) => {
    await using roost = new RoostHome();
    const process = spawn('sleep', ['600'], { stdio: 'ignore' });
    const ofProcess = tellsPid ? { pid: process.pid } : {};
    const ended = new Promise((resolve) => process.once('exit', resolve));
    const server = createServer((request, response) => {
      response.setHeader('content-type', 'application/json');
      response.setHeader('connection', 'close');
      if (request.method === 'POST') {
        process.kill();
        server.close();
      }
      const told = { hubId: '0123456789abcdef', version: '0.0.1', ...ofProcess, nodes: { online: 1 } };
      response.end(JSON.stringify(request.method === 'POST' ? {} : told));
    });
    mkdirSync(join(roost.home, 'hub'), { recursive: true, mode: 0o700 });
    await new Promise<void>((resolve) => server.listen(join(roost.home, 'hub', 'hub.sock'), resolve));
    try {
      expect(await roost.json(['hub', 'status'])).toEqual({
        hubId: '0123456789abcdef',
        version: '0.0.1',
        ...ofProcess,
      });
      expect(await roost.ok(['hub', 'status'])).toMatch(/^version +0\.0\.1$[\s\S]*^address +-$/m);
      expect(await roost.ok(['hub', 'down'])).toContain('hub stopped');
      await ended;
      expect(isAlive(process.pid ?? 0)).toBe(false);
    } finally {
      process.kill();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    }
  },
);

/** A Roost with a hub beside its node, on a port of its own, for tests. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hubRequest, hubSocketPath, type HubTarget } from '@roost/client';
import type { HubNode, HubParamsInput, HubResult, HubRole, HubScope, UserName } from '@roost/protocol';
import { isAlive, RoostHome } from './roost-home.ts';
import { waitFor } from './wait-for.ts';

export type TokenTarget = Extract<HubTarget, { token: string }>;

export class HubHome extends RoostHome {
  /** Where the hub of now listens. */
  url = '';

  /** Brings node and hub. `config`: of the hub, beside its port. */
  async up(config: object = {}): Promise<void> {
    this.configure(config);
    this.url = (await this.json<{ hub: { url: string } }>(['up'])).hub.url;
  }

  /** For the next start of the hub. */
  configure(config: object = {}): void {
    mkdirSync(join(this.home, 'hub'), { recursive: true, mode: 0o700 });
    writeFileSync(join(this.home, 'hub', 'config.json'), JSON.stringify({ listen: { port: 0 }, ...config }));
  }

  /** Starts the hub where it does not run. */
  async restart(): Promise<void> {
    this.url = (await this.json<{ url: string }>(['hub', 'up'])).url;
  }

  /** Ends the hub alone, kindly or hard. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const pid = await this.hubPid();
    process.kill(pid, signal);
    await waitFor('the hub to end', () => !isAlive(pid));
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** The hub, as its owner. */
  get owner(): HubTarget {
    return { socketPath: hubSocketPath(this.home) };
  }

  ask<Name extends Parameters<typeof hubRequest>[1]>(
    name: Name,
    params: HubParamsInput<Name>,
  ): Promise<HubResult<Name>> {
    return hubRequest(this.owner, name, params);
  }

  node(name: string): Promise<HubNode> {
    return this.ask('nodes.show', { node: name });
  }

  /** Waits until the link of a node is in that state. */
  async link(name: string, state: HubNode['link']['state'], timeoutMs = 20_000): Promise<HubNode> {
    let last: unknown;
    return waitFor(
      `${name} to be ${state}`,
      async () => {
        const node = await this.node(name).catch((error: unknown) => void (last = String(error)));
        last = node?.link ?? last;
        return node?.link.state === state && node;
      },
      { timeoutMs, state: () => last },
    );
  }

  /** The hub as a new user with a token. */
  async user(
    name: string,
    role: HubRole,
    scope: HubScope | null = null,
  ): Promise<TokenTarget & { id: string }> {
    const user = name as UserName;
    await this.ask('users.create', { name: user, role, scope });
    const { token, secret } = await this.ask('tokens.create', { user, label: 'test' });
    return { url: this.url, token: secret, fingerprint: null, id: token.id };
  }

  async hubPid(): Promise<number> {
    return (await this.ask('hub.status', {})).pid;
  }
}

// What the hub counts of itself, for Prometheus. Labels are closed words: routes, codes, states; no name or id is among them.
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { LinkState } from '@roost/protocol';
import type { Fleet } from '../fleet/fleet.ts';
import type { OpenLines } from './open-lines.ts';

const SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30];

export class HubMetrics {
  readonly #registry = new Registry();
  readonly #requests: Histogram;
  readonly #authentications: Counter;
  readonly #upgrades: Counter;

  constructor({ fleet, lines }: { fleet: Fleet; lines: OpenLines }) {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry, prefix: 'roost_hub_' });
    this.#requests = new Histogram({
      name: 'roost_hub_http_request_seconds',
      help: 'Time until a request was answered, by operation and status.',
      labelNames: ['operation', 'status'],
      buckets: SECONDS,
      registers,
    });
    this.#authentications = new Counter({
      name: 'roost_hub_authentication_failures_total',
      help: 'Tokens and codes that were not good.',
      registers,
    });
    this.#upgrades = new Counter({
      name: 'roost_hub_upgrades_total',
      help: 'WebSockets that were asked for, by what for and what came of it.',
      labelNames: ['line', 'outcome'],
      registers,
    });
    new Counter({
      name: 'roost_hub_call_home_failures_total',
      help: 'Calls in the name of a node that came to nothing, by how they failed; unauthorized: they did not prove to be of it.',
      labelNames: ['code'],
      registers,
      collect() {
        this.reset();
        for (const [code, count] of fleet.failedCalls) this.inc({ code }, count);
      },
    });
    new Gauge({
      name: 'roost_hub_nodes',
      help: 'Enrolled nodes by the state of their link.',
      labelNames: ['state'],
      registers,
      collect() {
        const nodes = fleet.nodes();
        for (const state of LinkState.options)
          this.set({ state }, nodes.filter(({ link }) => link.state === state).length);
      },
    });
    new Gauge({
      name: 'roost_hub_sessions',
      help: 'Live sessions of all nodes, and those of them that are blocked.',
      labelNames: ['state'],
      registers,
      collect() {
        const nodes = fleet.nodes();
        this.set(
          { state: 'live' },
          nodes.reduce((sum, { sessions }) => sum + sessions.live, 0),
        );
        this.set(
          { state: 'blocked' },
          nodes.reduce((sum, { sessions }) => sum + sessions.blocked, 0),
        );
      },
    });
    new Gauge({
      name: 'roost_hub_lines',
      help: 'Event streams and WebSockets that are open.',
      registers,
      collect() {
        this.set(lines.count);
      },
    });
    new Gauge({
      name: 'roost_hub_last_event',
      help: 'Events of this start of the hub.',
      registers,
      collect() {
        this.set(fleet.cursor().id);
      },
    });
  }

  /** `operation`: its name, or `other`. */
  answered(operation: string, status: number, seconds: number): void {
    this.#requests.observe({ operation, status: String(status) }, seconds);
  }

  authenticationFailed(): void {
    this.#authentications.inc();
  }

  upgraded(line: string, outcome: string): void {
    this.#upgrades.inc({ line, outcome });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }
}

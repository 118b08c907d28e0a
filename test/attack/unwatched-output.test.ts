import { describe, expect, it } from 'vitest';
import { attackCount } from '../support/counts.ts';
import { connectTo } from '../support/node-client.ts';
import { MIB, peakResidentBytes } from '../support/process-facts.ts';
import { LAB_AGENT, RoostHome } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';

const PRINTED_BYTES = attackCount(100, 20) * 1_000_000;
const PRINT_TIMEOUT_MS = 60_000 + PRINTED_BYTES / 500;
/** As with a slow reader: a ring and a screen, and for pipes twice 8 MiB that the node may owe an acknowledgement for. */
const KEEPER_PEAK_BYTES_MAX = 256 * MIB;
const NODE_PEAK_BYTES_MAX = 192 * MIB;

function expectBounded(keepers: number[], node: number): void {
  for (const pid of keepers) expect(peakResidentBytes(pid), 'keeper').toBeLessThan(KEEPER_PEAK_BYTES_MAX);
  expect(peakResidentBytes(node), 'node').toBeLessThan(NODE_PEAK_BYTES_MAX);
}

describe('output that nobody watches', () => {
  it('of a terminal leaves its exit code and its tail, and bounded memory', async () => {
    await using roost = new RoostHome();
    await roost.run('gone', [
      ...[process.execPath, LAB_AGENT, '--flood', String(PRINTED_BYTES)],
      ...['--say', '\\nthe last words', '--exit', '5'],
    ]);
    const ended = await waitFor(
      'the exit',
      async () => {
        const session = await roost.session('gone');
        return session.status === 'exited' ? session : null;
      },
      { timeoutMs: PRINT_TIMEOUT_MS, everyMs: 250 },
    );
    expect(ended).toMatchObject({ exitCode: 5, exitSignal: null, attachedClients: 0 });
    expect(await roost.ok(['logs', 'gone'])).toMatch(/the quick brown fox[^]*\nthe last words\n$/);
    expectBounded(roost.keeperPids(), await roost.nodePid());
  });

  it('of pipes is kept whole, byte for byte at both ends, and leaves bounded memory', async () => {
    await using roost = new RoostHome();
    const lines = Math.floor(PRINTED_BYTES / 16);
    const { id } = await roost.run(
      'gone',
      ['sh', '-c', `seq -f %015.0f 1 ${lines}; echo to the side >&2; exit 5`],
      ['--pipe'],
    );
    const connection = await connectTo(roost);
    const told = await waitFor(
      'the exit',
      async () => {
        const session = await connection.request('session.wait', { sessionId: id, waitMs: 1_000 });
        return session.status === 'exited' ? session : null;
      },
      { timeoutMs: PRINT_TIMEOUT_MS },
    );
    expect(told).toMatchObject({ exitCode: 5, exitSignal: null });
    const end = await connection.request('session.readOutput', {
      sessionId: id,
      stream: 'stdout',
      offset: -32,
    });
    expect(end.nextOffset).toBe(lines * 16);
    expect(end.ended).toBe(true);
    expect(Buffer.from(end.base64, 'base64').toString()).toBe(
      `${String(lines - 1).padStart(15, '0')}\n${String(lines).padStart(15, '0')}\n`,
    );
    connection.close();
    expect(await roost.ok(['logs', 'gone', '--lines', '1'])).toBe(`${String(lines).padStart(15, '0')}\n`);
    expect(await roost.ok(['logs', 'gone', '--stderr'])).toBe('to the side\n');
    expectBounded(roost.keeperPids(), await roost.nodePid());
  });
});

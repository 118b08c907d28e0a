import { describe, expect, it } from 'vitest';
import { decodePipeOutput, encodePipeOutput } from './pipe-output-frame.ts';
import { PipeOutputBuffer } from './pipe-output.ts';

function source() {
  const calls: string[] = [];
  return { calls, pause: () => calls.push('pause'), resume: () => calls.push('resume') };
}
const rest = (buffer: PipeOutputBuffer, offset: number) =>
  [...buffer.from(offset)].map(({ bytes }) => bytes.toString()).join('');

describe('PipeOutputBuffer', () => {
  it('keeps everything until it is acknowledged, by absolute offset', () => {
    const buffer = new PipeOutputBuffer(source());
    for (const piece of ['hello ', 'wide ', 'world']) buffer.append(Buffer.from(piece));
    expect(rest(buffer, 0)).toBe('hello wide world');
    buffer.acknowledge(8);
    expect([buffer.floor, buffer.end]).toEqual([8, 16]);
    expect(rest(buffer, 0)).toBe('de world');
    expect([...buffer.from(12)].map(({ offset }) => offset)).toEqual([12]);
    buffer.acknowledge(1_000);
    expect([buffer.floor, buffer.end, rest(buffer, 0)]).toEqual([16, 16, '']);
  });

  it('pauses its source at the cap and resumes it once half is acknowledged', () => {
    const { calls, ...controls } = source();
    const buffer = new PipeOutputBuffer(controls, 100);
    buffer.append(Buffer.alloc(99));
    expect(calls).toEqual([]);
    buffer.append(Buffer.alloc(10));
    expect(calls).toEqual(['pause']);
    buffer.acknowledge(30);
    expect(calls).toEqual(['pause']);
    buffer.acknowledge(60);
    expect(calls).toEqual(['pause', 'resume']);
  });
});

describe('pipe output frames', () => {
  it('come back as they went', () => {
    const output = {
      sessionId: '0123456789abcdef',
      stream: 'stderr',
      offset: 2 ** 40 + 7,
      bytes: Buffer.from('x\0y'),
    } as const;
    const { bytes, ...head } = decodePipeOutput(encodePipeOutput(output));
    expect({ ...head, bytes: Buffer.from(bytes) }).toEqual(output);
  });
});

import { Terminal } from '@xterm/headless';
import { describe, expect, it } from 'vitest';
import { EmulatorInternals } from './emulator-internals.ts';

function make(): Terminal {
  return new Terminal({ cols: 10, rows: 3, allowProposedApi: true, logLevel: 'off' });
}

describe('the internals of the emulator', () => {
  it('parse before they return', () => {
    const terminal = make();
    new EmulatorInternals(terminal).parse(Buffer.from('now'));
    expect(terminal.buffer.active.getLine(0)?.translateToString(true)).toBe('now');
  });

  it('tell what the public interface does not', () => {
    const terminal = make();
    const internals = new EmulatorInternals(terminal);
    internals.parse(Buffer.from('\x1b[2;3r\x1b[2;4H\x1b7\x1b[3g\x0e\x1b[1m'));
    expect(internals.normal).toMatchObject({ scrollTop: 1, scrollBottom: 2, savedX: 3, tabs: {} });
    expect(internals.shift).toBe(1);
    expect(internals.attributes.fg).not.toBe(0);
  });

  it('let a count be changed before the emulator repeats it', () => {
    const terminal = make();
    const internals = new EmulatorInternals(terminal);
    internals.onControlSequence({ final: 'b' }, ({ params }) => {
      params[0] = 2;
      return false;
    });
    internals.parse(Buffer.from('a\x1b[7b'));
    expect(terminal.buffer.active.getLine(0)?.translateToString(true)).toBe('aaa');
  });

  it('are missed by name when another version has moved them', () => {
    const terminal = make();
    const core: unknown = Reflect.get(terminal, '_core');
    const input: unknown = Reflect.get(core as object, '_inputHandler');
    Reflect.set(input as object, 'parse', undefined);
    expect(() => new EmulatorInternals(terminal)).toThrow('internal "parse" is not where');
    Reflect.set(terminal, '_core', undefined);
    expect(() => new EmulatorInternals(terminal)).toThrow('internal "_core" is not where');
  });
});

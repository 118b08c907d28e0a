import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findProvider } from '@roost/providers';
import { findProgram } from './find-program.ts';
import { TestPrograms } from './programs-for-test.ts';
import { resolveProgram } from './resolve-program.ts';

let programs: TestPrograms;
beforeEach(() => (programs = new TestPrograms()));
afterEach(() => programs.remove());

const NODE_SCRIPT = '#!/usr/bin/env node\nconsole.log("1.2.3");\n';

describe('what runs behind a name', () => {
  it('is at the end of links', () => {
    const program = programs.write('lib/agent/cli.js', NODE_SCRIPT);
    symlinkSync('../lib/agent/cli.js', join(programs.bin, 'first'));
    symlinkSync('first', join(programs.bin, 'agent'));
    expect(resolveProgram(join(programs.bin, 'agent'))).toMatchObject({ program });
  });

  it("is what npm's script for sh runs, and that is read, not run", () => {
    const program = programs.write('lib/node_modules/agent/cli.js', NODE_SCRIPT);
    const shim = programs.npmShim('agent', '../lib/node_modules/agent/cli.js');
    expect(resolveProgram(shim)).toMatchObject({ program });
    const native = programs.write('lib/node_modules/native/agent.exe', '\x7fELF');
    const nativeShim = programs.write(
      'bin/native',
      '#!/bin/sh\nbasedir=$(dirname "$0")\nexec "$basedir/../lib/node_modules/native/agent.exe"   "$@"\n',
    );
    expect(resolveProgram(nativeShim)).toMatchObject({ program: native });
  });

  it('is what a wrapper runs that does nothing else', () => {
    const program = programs.write('lib/cli.js', NODE_SCRIPT);
    const wrapper = programs.write(
      'bin/agent',
      `#!/bin/bash\n# made by an installer\nexec "${program}" "$@"\n`,
    );
    expect(resolveProgram(wrapper)).toMatchObject({ program });
  });

  it('is a script itself that does more, whatever it runs', () => {
    for (const body of [
      'export A=1\nexec "/bin/true" "$@"',
      'exec "$HOME/x" "$@"',
      'exec /bin/true',
      'exec /bin/true "$@"; rm x',
      'exec "`id`" "$@"',
    ]) {
      const script = programs.write('bin/agent', `#!/bin/sh\n${body}\n`);
      expect(resolveProgram(script)).toMatchObject({ program: script });
    }
    const large = programs.write('bin/large', `#!/bin/sh\nexec "/gone" "$@"\n${'#\n'.repeat(40_000)}`);
    expect(resolveProgram(large)).toMatchObject({ program: large });
  });

  it('is gone when an installer took it away, and endless when scripts lead to each other', () => {
    expect(resolveProgram(programs.npmShim('agent', '../lib/gone.js'))).toEqual({ fault: 'target-gone' });
    const [one, other] = [join(programs.bin, 'one'), join(programs.bin, 'other')];
    programs.write('bin/one', `#!/bin/sh\nexec "${other}" "$@"\n`);
    programs.write('bin/other', `#!/bin/sh\nexec "${one}" "$@"\n`);
    expect(resolveProgram(one)).toEqual({ fault: 'endless' });
  });

  it('has another signature when a file on the way changes, and the same as long as none does', () => {
    const program = programs.write('lib/cli.js', NODE_SCRIPT);
    const shim = programs.npmShim('agent', '../lib/cli.js');
    const signature = () => {
      const resolved = resolveProgram(shim);
      return 'signature' in resolved ? resolved.signature : resolved.fault;
    };
    const before = signature();
    expect(signature()).toBe(before);
    utimesSync(program, 1, 1);
    const touched = signature();
    expect(touched).not.toBe(before);
    writeFileSync(program, `${NODE_SCRIPT}\n`);
    expect(signature()).not.toBe(touched);
  });
});

describe('a program', () => {
  const find = (places: Record<string, string> = {}) =>
    findProgram(findProvider('claude')!, { ...programs.environment, ...places });

  it('is the first on the PATH that can run, whatever else has its name', () => {
    mkdirSync(join(programs.root, 'early/claude'), { recursive: true });
    programs.write('second/claude', '#!/bin/sh\n', 0o644);
    const path = programs.write('bin/claude', '#!/bin/sh\n');
    const PATH = `${programs.root}/early:${programs.root}/second:${programs.bin}`;
    expect(find({ PATH })).toEqual({ kind: 'found', path });
  });

  it('is found where installers put it, without a PATH that has the place', () => {
    const path = programs.write('home/.local/bin/claude', '#!/bin/sh\n');
    expect(find({ PATH: '/nowhere' })).toEqual({ kind: 'found', path });
    expect(find({ PATH: '/nowhere', HOME: '' })).toEqual({ kind: 'absent' });
  });

  it.each([
    ['a file that nobody may run', 'not-executable', () => programs.write('bin/claude', 'x', 0o644)],
    ['a link to nothing', 'target-gone', () => symlinkSync('/gone', join(programs.bin, 'claude'))],
    ['a link to itself', 'endless', () => symlinkSync('claude', join(programs.bin, 'claude'))],
  ])('is broken as %s', (_, fault, make) => {
    make();
    expect(find()).toEqual({ kind: 'broken', path: join(programs.bin, 'claude'), fault });
  });

  it('is absent when only a directory has its name', () => {
    mkdirSync(join(programs.bin, 'claude'));
    expect(find()).toEqual({ kind: 'absent' });
  });
});

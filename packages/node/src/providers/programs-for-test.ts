// For tests only: a directory of small programs that stand in for agents.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export class TestPrograms {
  readonly root = mkdtempSync(join(tmpdir(), 'roost-programs-'));
  readonly bin = join(this.root, 'bin');

  constructor() {
    mkdirSync(this.bin);
  }

  /** Writes an executable file; `path` is taken from the root. */
  write(path: string, text: string, mode = 0o755): string {
    const file = join(this.root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    chmodSync(file, mode);
    return file;
  }

  /** A shell script in `bin` that notes each of its runs. */
  script(name: string, body: string): string {
    return this.write(`bin/${name}`, `#!/bin/sh\necho run >> '${this.root}/runs'\n${body}\n`);
  }

  /** How often scripts ran. */
  get runs(): number {
    try {
      return readFileSync(join(this.root, 'runs'), 'utf8').split('\n').length - 1;
    } catch {
      return 0;
    }
  }

  /** As npm writes it into its directory of programs on systems whose links it does not trust. */
  npmShim(name: string, target: string): string {
    return this.write(
      `bin/${name}`,
      `#!/bin/sh
basedir=$(dirname "$(echo "$0" | sed -e 's,\\\\,/,g')")

case \`uname\` in
    *CYGWIN*|*MINGW*|*MSYS*) basedir=\`cygpath -w "$basedir"\`;;
esac

if [ -x "$basedir/node" ]; then
  exec "$basedir/node"  "$basedir/${target}" "$@"
else
  exec node  "$basedir/${target}" "$@"
fi
`,
    );
  }

  get environment(): Record<string, string> {
    return { PATH: `${this.bin}:/usr/bin:/bin`, HOME: join(this.root, 'home'), SHELL: '/bin/sh' };
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

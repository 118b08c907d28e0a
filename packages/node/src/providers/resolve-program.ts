// What runs behind a name: links, npm's scripts for `sh`, and wrappers that do nothing but run another file. They are read, never
// run. The answer holds every file on the way: when one of them changes, what was known of the program is old.
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import type { ProviderFault } from '@roost/protocol';

/** Bytes of a script that are read: npm's have a few hundred. */
const SCRIPT_BYTES_MAX = 64 * 1024;
/** Files from the name to the program: a link into an installer's directory, its script, the package's. */
const STEPS_MAX = 8;

export interface ResolvedProgram {
  /** The file at the end, without links. */
  readonly program: string;
  /** Changes whenever a file on the way does: path, device, inode, size and times of each. */
  readonly signature: string;
}

export function resolveProgram(path: string): ResolvedProgram | { readonly fault: ProviderFault } {
  const seen: string[] = [];
  for (let at = path; ;) {
    const step = lookAt(at);
    if (step === null) return { fault: 'target-gone' };
    seen.push(step.signature);
    if (seen.length > STEPS_MAX) return { fault: 'endless' };
    // The script of npm takes its own directory from the name by which it was called.
    const next = step.script === null ? null : targetOf(step.script, dirname(at));
    if (next === null) return { program: step.real, signature: seen.join('\n') };
    at = next;
  }
}

interface Step {
  readonly real: string;
  readonly signature: string;
  /** Its text, when it is a script of a bearable length. */
  readonly script: string | null;
}

function lookAt(path: string): Step | null {
  try {
    const real = realpathSync(path);
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(real, { bigint: true });
    const signature = [path, real, dev, ino, size, mtimeNs, ctimeNs].map(String).join(' ');
    return { real, signature, script: size > SCRIPT_BYTES_MAX ? null : readScript(real) };
  } catch {
    return null;
  }
}

function readScript(path: string): string | null {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!fstatSync(descriptor).isFile()) return null;
    const buffer = Buffer.alloc(SCRIPT_BYTES_MAX);
    const length = readSync(descriptor, buffer, 0, buffer.length, 0);
    const text = buffer.toString('utf8', 0, length);
    return text.startsWith('#!') ? text : null;
  } finally {
    closeSync(descriptor);
  }
}

/** `#!/bin/sh`, `#!/usr/bin/env bash` and the like: what follows is for a shell. */
const SHELL_SCRIPT = /^#![ \t]*(?:\S*\/)?(?:env[ \t]+(?:-S[ \t]+)?)?(?:ba|da|k|z)?sh(?:[ \t]|$)/;

/** `exec node "$basedir/../pkg/cli.js" "$@"`, with node beside it or on the PATH; of two branches both name the same file. */
const NPM_SHIM = /^[ \t]*exec[ \t]+(?:"\$basedir\/node"|node)[ \t]+(?:-\S+[ \t]+)*"\$basedir\/([^"$`\\]+)"/gm;
/** `exec "$basedir/../pkg/program" "$@"` */
const NPM_NATIVE_SHIM = /^[ \t]*(?:exec[ \t]+)?"\$basedir\/((?!node")[^"$`\\]+)"[ \t]+"\$@"/gm;
/** The only line of a wrapper. */
const WRAPPER = /^exec[ \t]+(?:"([^"$`\\]+)"|'([^']+)'|([^\s"'$`\\;&|<>()*?]+))[ \t]+"\$@"$/;

/** Where a script leads, when that is all that it does; null for a program of its own. */
function targetOf(script: string, directory: string): string | null {
  const [first = '', ...rest] = script.split(/\r?\n/);
  if (!SHELL_SCRIPT.test(first)) return null;
  if (script.includes('basedir=')) {
    const targets = [...script.matchAll(NPM_SHIM), ...script.matchAll(NPM_NATIVE_SHIM)].map(
      ([, path]) => path,
    );
    const [target] = new Set(targets);
    return target === undefined || new Set(targets).size > 1 ? null : join(directory, target);
  }
  const lines = rest.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
  const [, ...words] = lines.length === 1 ? (WRAPPER.exec(lines[0] ?? '') ?? []) : [];
  // One of the groups.
  const target = words.join('');
  return isAbsolute(target) ? target : null;
}

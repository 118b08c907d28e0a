import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { childrenTime } from './children-time.ts';

it.runIf(process.platform === 'linux')(
  'counts what ended children worked, and not how long they slept',
  () => {
    const before = childrenTime() ?? Number.NaN;
    spawnSync('/bin/sh', ['-c', 'sleep 0.5']);
    const slept = (childrenTime() ?? Number.NaN) - before;
    spawnSync('/bin/sh', ['-c', 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done']);
    const worked = (childrenTime() ?? Number.NaN) - before - slept;
    expect(slept).toBeLessThan(200);
    expect(worked).toBeGreaterThan(slept);
  },
);

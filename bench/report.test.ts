import { expect, it } from 'vitest';
import { renderReport, type Results } from './report.ts';

const RESULTS: Results = {
  machine: {
    date: '2024-02-29',
    system: 'Linux 6',
    processor: 'x',
    cores: 2,
    memoryGiB: 4,
    runtime: 'Node 20',
    tmux: 'tmux 3.3a',
    loadAtStart: 0.1,
  },
  subjects: ['bare', 'tmux', 'roost'],
  minutes: 9.87,
  sections: [
    {
      id: 'a',
      title: 'Throughput',
      method: 'It is measured.',
      measurements: [
        { what: 'plain', unit: 'MB/s', samples: { bare: [60], tmux: [10, 30, 20], roost: [30] } },
      ],
      verdicts: [
        { target: 'plain: at least 1x', measured: '1.50x', met: true },
        { target: 'colour: at least 1x', measured: '0.50x', met: false },
        { target: 'other', measured: 'not measured', met: null },
      ],
    },
  ],
};

it('shows medians with their range and the ratio of medians', () => {
  expect(renderReport(RESULTS)).toContain('| plain (MB/s) | 60 | 20 (10-30) | 30 | 1.50 |');
});

it('names every target with its verdict, missed ones loudly', () => {
  const page = renderReport(RESULTS);
  expect(page).toContain('| a | plain: at least 1x | 1.50x | met |');
  expect(page).toContain('| a | colour: at least 1x | 0.50x | **missed** |');
  expect(page).toContain('| a | other | not measured | - |');
});

it('leaves the ratio out when there is no peer', () => {
  const page = renderReport({
    ...RESULTS,
    machine: { ...RESULTS.machine, tmux: null },
    subjects: ['bare', 'roost'],
  });
  expect(page).not.toContain('roost / tmux');
  expect(page).toContain('not installed');
});

/** Applies screen rules. Pure: the same screen gives the same verdict. */
import type { ScreenGate, ScreenRegion, ScreenRule, ScreenVerdict, ScreenView } from './screen-rule.ts';

/** @returns null when no rule matches: then nothing is known. */
export function readScreen(rules: readonly ScreenRule[], view: ScreenView): ScreenVerdict | null {
  const regions = new Map<string, string>();
  const textOf = (region: ScreenRegion): string => {
    const key = region.kind === 'bottom' ? `bottom ${region.lines}` : region.kind;
    const known = regions.get(key);
    if (known !== undefined) return known;
    const text = regionText(region, view);
    regions.set(key, text);
    return text;
  };
  const rule = rules.find(({ gates }) => gates.every((gate) => holds(gate, textOf(gate.in))));
  if (rule === undefined) return null;
  return {
    ruleId: rule.id,
    state: rule.state,
    reason: rule.reason ?? null,
    source: rule.gates.every((gate) => gate.in.kind === 'title') ? 'terminal' : 'screen',
  };
}

function holds({ all = [], any, none = [] }: ScreenGate, text: string): boolean {
  return (
    all.every((pattern) => pattern.test(text)) &&
    (any === undefined || any.some((pattern) => pattern.test(text))) &&
    !none.some((pattern) => pattern.test(text))
  );
}

export function regionText(region: ScreenRegion, { lines, title }: ScreenView): string {
  switch (region.kind) {
    case 'title':
      return title ?? '';
    case 'screen':
      return lines.join('\n');
    case 'bottom': {
      const kept: string[] = [];
      for (let at = lines.length - 1; at >= 0 && kept.length < region.lines; at -= 1) {
        const line = lines[at] ?? '';
        if (line.trim() !== '') kept.unshift(line);
      }
      return kept.join('\n');
    }
  }
}

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
    typed: rule.typed === undefined ? null : typedText(rule.typed, textOf({ kind: 'screen' })),
  };
}

function holds({ all = [], any, none = [] }: ScreenGate, text: string): boolean {
  return (
    all.every((pattern) => pattern.test(text)) &&
    (any === undefined || any.some((pattern) => pattern.test(text))) &&
    !none.some((pattern) => pattern.test(text))
  );
}

function regionText(region: ScreenRegion, { lines, title }: ScreenView): string {
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

/** The last match counts: what is further up was sent before. */
function typedText(pattern: RegExp, text: string): string | null {
  let typed: string | null = null;
  for (const match of text.matchAll(new RegExp(pattern, `${pattern.flags}g`))) typed = match[1] ?? typed;
  return typed === null ? null : typed.trim();
}

// Takes out of a capture what is different each time or belongs to one machine: ids, ports, times, secrets. Whatever can stand
// on a screen keeps its length, so that the layout stays as it was.

interface Rewrite {
  sees: RegExp;
  into: (found: string, number: number) => string;
}

const digits = (number: number, length: number): string =>
  String(number).padStart(length, '0').slice(-length);

/** The same id becomes the same neutral one wherever it comes again; each kind has numbers of its own. */
const IDS: readonly Rewrite[] = [
  {
    sees: /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g,
    into: (_, number) => `00000000-0000-4000-8000-${digits(number, 12)}`,
  },
  {
    sees: /\b(?:ses|msg|prt|per|que|evt|toolu|call|fc|resp|req|chatcmpl|tool|job)[_-][0-9A-Za-z]{12,}\b/g,
    into: (found, number) => {
      const head = /^[a-z]+[_-]/.exec(found)?.[0] ?? '';
      return head + digits(number, found.length - head.length);
    },
  },
  { sees: /\b[0-9a-f]{64}\b/g, into: (_, number) => digits(number, 64) },
  { sees: /\b[0-9a-f]{40}\b/g, into: (_, number) => digits(number, 40) },
  { sees: /\b[0-9a-f]{32}\b/g, into: (_, number) => digits(number, 32) },
];

const TIMES: readonly Rewrite[] = [
  {
    sees: /\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+/g,
    into: (found) => `2026-01-01T00:00:00.${'0'.repeat(found.length - 20)}`,
  },
  { sees: /\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\b/g, into: () => '2026-01-01T00:00:00' },
  { sees: /\b20\d\d-\d\d-\d\dT\d\d-\d\d-\d\d\b/g, into: () => '2026-01-01T00-00-00' },
  { sees: /\b20\d\d-\d\d-\d\dT\d\d-\d\d\b/g, into: () => '2026-01-01T00-00' },
  { sees: /\b20\d\d([-/])\d\d\1\d\d\b/g, into: (found) => `2026${found.charAt(4)}01${found.charAt(4)}01` },
  {
    sees: /\b\d\d?:\d\d ?[AP]M\b/g,
    into: (found) => (found.length === '1:00 AM'.length ? '1:00 AM' : found.replaceAll(/\d/g, '1')),
  },
  { sees: /(?<= • )\d\d:\d\d(?=\s|"|\\|$)/gm, into: () => '00:00' },
  { sees: /\b[A-Z][a-z]+day, [A-Z][a-z]+ \d\d?, 20\d\d\b/g, into: () => 'Thursday, January 1, 2026' },
  // The name of the system, as Codex tells it of itself.
  { sees: /\([A-Z][\w .]* [\d.]+; \w+\)/g, into: () => '(Linux; x86_64)' },
  // Milliseconds, then seconds, of the years that captures are made in.
  { sees: /\b1[789]\d{11}\b/g, into: () => '1767225600000' },
  { sees: /\b1[789]\d{8}\b/g, into: () => '1767225600' },
];

/** Its ids are counted over all it is given, so one serves for everything that belongs together. */
export class Normaliser {
  readonly #known = new Map<string, string>();
  readonly #counts = new Map<Rewrite, number>();

  text(text: string): string {
    let out = text
      .replaceAll('/private/tmp/', '/tmp/')
      .replaceAll(/\b127\.0\.0\.1:\d+/g, '127.0.0.1:40000')
      .replaceAll(/\bsk-ant-mock-\w+/g, 'sk-ant-mock');
    for (const rewrite of IDS)
      out = out.replaceAll(rewrite.sees, (found) => {
        let neutral = this.#known.get(found);
        if (neutral === undefined) {
          const number = (this.#counts.get(rewrite) ?? 0) + 1;
          this.#counts.set(rewrite, number);
          neutral = rewrite.into(found, number);
          this.#known.set(found, neutral);
          // What came out of here before is left as it is.
          this.#known.set(neutral, neutral);
        }
        return neutral;
      });
    for (const { sees, into } of TIMES) out = out.replaceAll(sees, (found) => into(found, 0));
    return out;
  }

  /** The same for every text in a JSON value, names included, and for the numbers that are times; long texts are cut. */
  value(value: unknown): unknown {
    return JSON.parse(this.text(JSON.stringify(value, withoutNoise)));
  }
}

/** Longer ones are instructions of the vendor, whose wording no parser reads. */
const LONGEST_TEXT = 1500;
const DURATION = /(duration|ttft|elapsed|latency)|_ms$|Ms$|^pid$|costUSD|total_cost_usd/i;

function withoutNoise(key: string, value: unknown): unknown {
  if (typeof value === 'number' && DURATION.test(key) && value < 1e12) return value === 0 ? 0 : 1;
  if (typeof value === 'string' && value.length > LONGEST_TEXT) return `${value.slice(0, 200)}… [cut]`;
  return value;
}

/**
 * The environment of every child: built up from an allow-list, never the parent's whole. What the node holds for itself
 * (tokens, keys of other tools, its own settings) reaches no child unless the launch names it.
 */

/** Who and where the user is, and in which language and time zone. A trailing `*` stands for any rest of the name. */
const COMMON_ENVIRONMENT: readonly string[] = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'TMPDIR',
  'LANG',
  'LANGUAGE',
  'LC_*',
  'TZ',
  'XDG_*',
];

/** Says who a process is to Roost. Only Roost's own starters set these: set by a launch, they would forge that. */
const RESERVED_ENVIRONMENT: ReadonlySet<string> = new Set(['ROOST_PROCESS', 'ROOST_SESSION_ID']);

export interface ChildEnvironmentPlan {
  readonly parent: Readonly<Record<string, string | undefined>>;
  /** Names or patterns beyond the common ones; none reaches a variable of Roost itself. */
  readonly inherit: readonly string[];
  /** Names not inherited though a pattern lets them in. */
  readonly scrub: readonly string[];
  /** What the launch asks for by name and value: wins over everything inherited. */
  readonly set: Readonly<Record<string, string>>;
}

export function childEnvironment(plan: ChildEnvironmentPlan): Record<string, string> {
  const names = new Set<string>();
  const prefixes: string[] = [];
  for (const pattern of [...COMMON_ENVIRONMENT, ...plan.inherit])
    if (pattern.endsWith('*')) prefixes.push(pattern.slice(0, -1));
    else names.add(pattern);
  const scrubbed = new Set(plan.scrub);

  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(plan.parent)) {
    if (value === undefined || name.startsWith('ROOST_') || scrubbed.has(name)) continue;
    if (names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))) environment[name] = value;
  }
  for (const [name, value] of Object.entries(plan.set))
    if (!RESERVED_ENVIRONMENT.has(name)) environment[name] = value;
  return environment;
}

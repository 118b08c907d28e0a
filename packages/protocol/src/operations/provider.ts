import * as z from 'zod';
import { gated, ProviderId } from '../gates.ts';
import { lazySchema } from '../lazy-schema.ts';
import { operation } from '../operation.ts';
import { ProviderStatus } from './node.ts';

/**
 * `installed`: found, and what is said of it was seen to hold for its version. `unverified-version`: nobody has seen that version at
 * work; it runs as a terminal, and nothing else is relied on. `probe-failed`: the same, because it did not tell its version.
 * `broken`: something of that name is there that cannot run. `unknown`: found, and not asked for its version yet.
 */
export const ProviderState = z.enum([
  'installed',
  'unverified-version',
  'probe-failed',
  'broken',
  'not-found',
  'unknown',
]);
export type ProviderState = z.infer<typeof ProviderState>;

/** Why a program cannot run, or did not tell its version. */
export const ProviderFault = z.enum([
  /** A file without the permission to run it. */
  'not-executable',
  /** What a link or an installer's script leads to is gone. */
  'target-gone',
  /** Links or scripts that lead to each other, or too far. */
  'endless',
  'not-started',
  'timed-out',
  'too-much-output',
  /** It ended with a failure of its own. */
  'failed',
  /** It said nothing, or nothing with a number in it. */
  'version-missing',
  /** Different versions. */
  'version-ambiguous',
  /** Numbers that are no version of three parts. */
  'version-unparseable',
]);
export type ProviderFault = z.infer<typeof ProviderFault>;

/** What one transport is said to do. */
const ProviderTransportFacts = z.object({
  /** How its own session becomes known. */
  identity: z.enum(['assigned', 'reported']).nullable(),
  resume: z.boolean(),
  prompt: z.boolean(),
  /** Whether that is relied on. */
  verified: z.boolean(),
});

/** What was found out about a provider on this machine. */
export const ProviderDiscovery = lazySchema(() =>
  z.object({
    state: ProviderState,
    /** `user`: from a file of the state directory. */
    origin: z.enum(['built-in', 'user']),
    /** What a launch would start; of a broken one, what is in its way. */
    path: z.string().nullable(),
    /** The program behind links and installers' scripts, where that is another file. */
    program: z.string().nullable(),
    version: z.string().nullable(),
    /** `package`: it did not answer in time, and the package that it belongs to says so. */
    versionFrom: z.enum(['program', 'package']).nullable(),
    fault: ProviderFault.nullable(),
    /** Versions that are known; null where there are none. */
    known: z.object({ from: z.string(), below: z.string().nullable() }).nullable(),
    transports: z.object({ pty: ProviderTransportFacts, pipe: ProviderTransportFacts }),
    /** Session options that it takes, by name; null for any value. */
    options: z.record(z.string(), z.array(z.string()).nullable()),
    /** As far as it can be told without the network. */
    login: z.enum(['yes', 'no', 'unknown']),
  }),
);
export type ProviderDiscovery = z.infer<typeof ProviderDiscovery>;

export const ProviderReport = lazySchema(() =>
  ProviderStatus.unwrap().extend({ discovery: gated('provider-discovery-v1', ProviderDiscovery.optional()) }),
);
export type ProviderReport = z.infer<typeof ProviderReport>;

/** A file that should define a provider and does not. */
const ProviderFileFault = z.object({ file: z.string(), fault: z.string() });

export const providerList = operation({
  name: 'provider.list',
  summary: 'Lists the providers, looked up anew on this machine; each program is asked for its version once.',
  access: 'observer',
  capability: 'provider-runtime-status-v1',
  params: () =>
    z.strictObject({
      /** false: with what is known by now, without starting any program. */
      ask: gated('provider-discovery-v1', z.boolean().optional()),
    }),
  result: () =>
    z.object({
      providers: z.array(ProviderReport),
      faults: gated('provider-discovery-v1', z.array(ProviderFileFault).optional()),
    }),
  failures: [],
});

/** Something about a provider, and the command that changes it. */
const ProviderFinding = z.object({
  code: z.enum([
    'ready',
    'not-found',
    'broken',
    'version-unverified',
    'version-unknown',
    'not-logged-in',
    'login-unknown',
  ]),
  level: z.enum(['ok', 'warn', 'fail']),
  /** For a person to run; null when there is none. */
  command: z.string().nullable(),
});
export type ProviderFinding = z.infer<typeof ProviderFinding>;

export const providerCheck = operation({
  name: 'provider.check',
  summary: 'Looks for one provider and asks it for its version again, whatever is known; tells what to do.',
  access: 'operator',
  capability: 'provider-discovery-v1',
  params: () => z.strictObject({ provider: ProviderId }),
  result: () => z.object({ provider: ProviderReport, findings: z.array(ProviderFinding) }),
  failures: ['unknown-provider'],
});

// What a file `providers/ID.json` of the state directory may say: a program of a person's own, as data. `docs/provider.schema.json` is
// made from this.
import * as z from 'zod';
import { SESSION_OPTION_BYTES_MAX, SessionOptions } from '@roost/protocol';
import type { ProviderDefinition } from '@roost/providers';

/** Entries of each list. */
const LIST_MAX = 64;

const line = (bytesMax: number) =>
  z
    .string()
    .min(1)
    .max(bytesMax)
    .regex(/^\P{Cc}*$/u, 'text without control characters');

const argument = line(4_096);
const flag = z
  .string()
  .max(128)
  .regex(/^-[^\s\p{Cc}=]+$/u, 'an option, such as --model');

const programName = z
  .string()
  .max(128)
  .regex(/^[^\s/\\\p{Cc}-][^\s/\\\p{Cc}]*$/u, 'the name of a program, without a path');

const place = z
  .string()
  .max(1_024)
  .regex(/^(?:~\/|\/)[^:\p{Cc}]*$/u, 'a directory, absolute or in ~/');

const variable = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,255}$/, 'the name of a variable')
  .refine((name) => !name.startsWith('ROOST_'), 'a variable of Roost itself reaches no session');

/** With a star at its end, for any rest; alone, it would let in everything that the node holds. */
const variables = z.union([
  variable,
  z
    .string()
    .regex(/^(?!ROOST_)[A-Za-z_][A-Za-z0-9_]{1,255}\*$/, 'the name of a variable, or its beginning and *'),
]);

const versionNumber = z.string().regex(/^\d{1,12}\.\d{1,12}\.\d{1,12}$/, 'three numbers, such as 1.2.0');

const template = (hole: string) =>
  z
    .array(argument)
    .min(1)
    .max(8)
    .refine(
      (words) => words.filter((word) => word.includes(hole)).length === 1,
      `one word must hold ${hole}`,
    );

const saidBy = z.array(flag).max(8).default([]);
const value = line(SESSION_OPTION_BYTES_MAX);

const Option = z.union([
  z.strictObject({
    /** `{value}` stands for the value; a list has them once for each. */
    arguments: template('{value}'),
    /** All values that it takes; any without. */
    values: z.array(value).min(1).max(LIST_MAX).optional(),
    /** Options of the program that say the same: where a launch has one, the session option is left out. */
    saidBy,
  }),
  z.strictObject({
    /** Arguments for each value that there is. */
    choices: z.record(value, z.array(argument).max(8)),
    saidBy,
  }),
]);

const OPTION_NAMES = Object.keys(SessionOptions.unwrap().shape) as (keyof SessionOptions)[];

export const ProviderFile = z
  .strictObject({
    $schema: z.string().optional(),
    displayName: line(64),
    /** Names of the program, the best first. */
    executables: z.array(programName).min(1).max(8),
    /** Directories to look in beside the PATH and the usual ones. */
    places: z.array(place).max(16).default([]),
    /** Put in front of the arguments of every launch. */
    arguments: z.array(argument).max(LIST_MAX).default([]),
    /** How it is asked for its version, if it can be. */
    version: z
      .strictObject({
        arguments: z.array(argument).min(1).max(8).default(['--version']),
        /** Whether it is asked with an empty home directory. */
        scratchHome: z.boolean().default(true),
        /** First version for which this file is true. */
        from: versionNumber.default('0.0.0'),
        /** First version for which it is not. */
        below: versionNumber.optional(),
      })
      .optional(),
    environment: z
      .strictObject({
        /** Variables of the node that its sessions get, beyond those of every session. */
        inherit: z.array(variables).max(LIST_MAX).default([]),
        /** Variables that they never get, though a pattern would let them in. */
        scrub: z.array(variable).max(LIST_MAX).default([]),
      })
      .prefault({}),
    /** How it takes a first prompt; `{prompt}` stands for it. Later ones are pasted. Without it, it takes none. */
    prompt: template('{prompt}').optional(),
    /** How it is told session options; it has none but these. */
    options: z.partialRecord(z.enum(OPTION_NAMES), Option).default({}),
    /** Command with which a person installs it. */
    install: line(512).optional(),
    /** Command with which a person logs in. */
    login: line(512).optional(),
  })
  .transform((file): ProviderDefinition => {
    const { version, options } = file;
    return {
      displayName: file.displayName,
      executables: file.executables,
      places: file.places,
      arguments: file.arguments,
      version: version === undefined ? null : versionOf(version),
      environment: file.environment,
      prompt: file.prompt ?? null,
      options: Object.fromEntries(
        Object.entries(options).map(([name, option]) => [
          name,
          'choices' in option
            ? { kind: 'choice', ...option }
            : { kind: 'value', ...option, values: option.values ?? null },
        ]),
      ),
      install: file.install ?? null,
      login: file.login ?? null,
    };
  });

function versionOf({
  arguments: words,
  scratchHome,
  from,
  below,
}: {
  arguments: string[];
  scratchHome: boolean;
  from: string;
  below?: string | undefined;
}): NonNullable<ProviderDefinition['version']> {
  return { arguments: words, scratchHome, known: { from, below: below ?? null } };
}

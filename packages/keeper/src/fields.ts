/**
 * Reading what came over a socket. A keeper carries no schema library (its memory is paid by every machine), so these
 * few readers stand at its edge; each throws `InvalidField`, which becomes an `invalid-request` answer.
 */
export class InvalidField extends Error {
  override readonly name = 'InvalidField';
  readonly field: string;
  constructor(field: string) {
    super(`invalid field: ${field}`);
    this.field = field;
  }
}

export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown, field: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new InvalidField(field);
  return value as Fields;
}

export function text(fields: Fields, name: string, maxLength: number): string {
  const value = fields[name];
  if (typeof value !== 'string' || value.length > maxLength) throw new InvalidField(name);
  return value;
}

export function integer(fields: Fields, name: string, min: number, max: number): number {
  const value = fields[name];
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min || value > max)
    throw new InvalidField(name);
  return value;
}

export function flag(fields: Fields, name: string): boolean {
  const value = fields[name];
  if (typeof value !== 'boolean') throw new InvalidField(name);
  return value;
}

export function oneOf<const Choice extends string>(
  fields: Fields,
  name: string,
  choices: readonly Choice[],
): Choice {
  const value = choices.find((choice) => choice === fields[name]);
  if (value === undefined) throw new InvalidField(name);
  return value;
}

export function texts(fields: Fields, name: string, maxItems: number, maxLength: number): string[] {
  const value = fields[name];
  if (!Array.isArray(value) || value.length > maxItems) throw new InvalidField(name);
  return value.map((item: unknown) => {
    if (typeof item !== 'string' || item.length > maxLength) throw new InvalidField(name);
    return item;
  });
}

export function textMap(
  fields: Fields,
  name: string,
  maxItems: number,
  maxLength: number,
): Record<string, string> {
  const entries = Object.entries(fieldsOf(fields[name], name));
  if (entries.length > maxItems) throw new InvalidField(name);
  return Object.fromEntries(
    entries.map(([key, value]) => {
      if (typeof value !== 'string' || value.length > maxLength || key.includes('\0') || value.includes('\0'))
        throw new InvalidField(name);
      return [key, value];
    }),
  );
}

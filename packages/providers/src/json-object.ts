/** What a provider writes as JSON, before anything is known of its shape. */
import type * as z from 'zod';

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The JSON object that a line is; null for everything else. */
export function readObject(line: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** @returns false, and does nothing, when the value has another shape. */
export function read<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  act: (parsed: z.infer<Schema>) => void,
): boolean {
  const parsed = schema.safeParse(value);
  if (parsed.success) act(parsed.data);
  return parsed.success;
}

/**
 * What a peer sees of a value: everything that its capabilities let through. One walk over schema and value serves
 * replies, snapshots and events, and tells of a request which capability it would need. Plans are made once for a schema;
 * parts without gates cost nothing, and values that need no change are passed on as they are.
 */
import type * as z from 'zod';
import type { $ZodType } from 'zod/v4/core';
import type { Capability } from './capabilities.ts';
import { GATES, type Gate } from './gates.ts';

/** In place of a value that the peer may not see at all. */
export const HIDDEN: unique symbol = Symbol('hidden');
/** The value takes the object around it along. */
const OWNER_HIDDEN: unique symbol = Symbol('owner hidden');

/** How to walk one schema; null where nothing below it is gated. */
type Plan =
  | { readonly kind: 'leaf' }
  | { readonly kind: 'object'; readonly fields: readonly (readonly [string, Step])[] }
  | { readonly kind: 'list'; readonly element: Step }
  | { readonly kind: 'record'; readonly value: Step }
  | { readonly kind: 'union'; readonly discriminator: string | null; readonly options: readonly Option[] };

interface Step {
  readonly gate: Gate | null;
  readonly plan: Plan | null;
  readonly nullable: boolean;
}

interface Option {
  /** Values of the discriminator that choose it; null when there is none. */
  readonly values: ReadonlySet<unknown> | null;
  readonly step: Step;
}

const steps = new WeakMap<$ZodType, Step>();

export class Projection {
  readonly #granted: ReadonlySet<string>;

  constructor(capabilities: readonly Capability[]) {
    this.#granted = new Set(capabilities);
  }

  grants(capability: Capability): boolean {
    return this.#granted.has(capability);
  }

  /** The value as the peer sees it, or `HIDDEN`. Never changes the value itself. */
  show<Schema extends z.ZodType>(schema: Schema, value: z.infer<Schema>): z.infer<Schema> | typeof HIDDEN {
    const seen = this.#walk(stepOf(schema), value);
    return (isHidden(seen) ? HIDDEN : seen) as z.infer<Schema> | typeof HIDDEN;
  }

  /** Whether this peer sees every value of the schema just as it is: what is at hand can be sent unread. */
  showsAll(schema: z.ZodType): boolean {
    return this.#grantsAll(stepOf(schema));
  }

  /** The first capability that this value uses and the peer lacks; what is only noted in it counts for nothing. */
  lacks(schema: z.ZodType, value: unknown): Capability | null {
    return this.#firstLack(stepOf(schema), value);
  }

  /** A capability that the peer lacks and that hides some values of this schema from it: it cannot tell those from none. */
  mayHide(schema: z.ZodType): Capability | null {
    return this.#firstHiding(stepOf(schema));
  }

  #walk(step: Step, value: unknown): unknown {
    if (value === null || value === undefined) return value;
    const { gate, plan } = step;
    if (gate !== null && !this.#granted.has(gate.capability) && gate.applies(value)) {
      switch (gate.hides) {
        case 'owner':
          return OWNER_HIDDEN;
        case 'itself':
          return HIDDEN;
        case 'field':
          return step.nullable ? null : undefined;
      }
    }
    if (plan === null) return value;
    switch (plan.kind) {
      case 'leaf':
        return value;
      case 'list':
        return this.#walkList(plan.element, value);
      case 'object':
        return this.#walkObject(plan.fields, value);
      case 'record':
        return this.#walkRecord(plan.value, value);
      case 'union': {
        const option = chooseOption(plan, value);
        return option === null ? value : this.#walk(option.step, value);
      }
    }
  }

  #walkList(element: Step, value: unknown): unknown {
    if (!Array.isArray(value)) return value;
    const shown: unknown[] = [];
    let changed = false;
    for (const one of value as unknown[]) {
      const seen = this.#walk(element, one);
      if (isHidden(seen) || (seen === undefined && one !== undefined)) changed = true;
      else {
        changed ||= seen !== one;
        shown.push(seen);
      }
    }
    return changed ? shown : value;
  }

  #walkObject(fields: readonly (readonly [string, Step])[], value: unknown): unknown {
    if (typeof value !== 'object') return value;
    const object = value as Record<string, unknown>;
    let copy: Record<string, unknown> | null = null;
    for (const [name, step] of fields) {
      const held = object[name];
      const seen = this.#walk(step, held);
      if (seen === held) continue;
      // A hidden part leaves its place empty where that is allowed; elsewhere the object makes no sense without it.
      if (seen === OWNER_HIDDEN || (seen === HIDDEN && !step.nullable)) return HIDDEN;
      copy ??= { ...object };
      if (seen === undefined) Reflect.deleteProperty(copy, name);
      else copy[name] = seen === HIDDEN ? null : seen;
    }
    return copy ?? value;
  }

  #walkRecord(step: Step, value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value);
    const shown = entries.flatMap(([name, held]): [string, unknown][] => {
      const seen = this.#walk(step, held);
      return isHidden(seen) || (seen === undefined && held !== undefined) ? [] : [[name, seen]];
    });
    const same =
      shown.length === entries.length && shown.every(([, seen], index) => seen === entries[index]?.[1]);
    return same ? value : Object.fromEntries(shown);
  }

  #firstLack(step: Step, value: unknown): Capability | null {
    if (value === null || value === undefined) return null;
    const { gate, plan } = step;
    if (gate?.isNote === true) return null;
    if (gate !== null && !this.#granted.has(gate.capability) && gate.applies(value)) return gate.capability;
    if (plan === null || plan.kind === 'leaf') return null;
    switch (plan.kind) {
      case 'list':
        return Array.isArray(value) ? firstOf(value, (one) => this.#firstLack(plan.element, one)) : null;
      case 'record':
        return firstOf(Object.values(value), (one) => this.#firstLack(plan.value, one));
      case 'object':
        return firstOf(plan.fields, ([name, field]) =>
          this.#firstLack(field, (value as Record<string, unknown>)[name]),
        );
      case 'union': {
        const option = chooseOption(plan, value);
        return option === null ? null : this.#firstLack(option.step, value);
      }
    }
  }

  #grantsAll({ gate, plan }: Step): boolean {
    if (gate !== null && !this.#granted.has(gate.capability)) return false;
    if (plan === null) return true;
    switch (plan.kind) {
      case 'leaf':
        return true;
      case 'list':
        return this.#grantsAll(plan.element);
      case 'record':
        return this.#grantsAll(plan.value);
      case 'object':
        return plan.fields.every(([, field]) => this.#grantsAll(field));
      case 'union':
        return plan.options.every((option) => this.#grantsAll(option.step));
    }
  }

  #firstHiding(step: Step): Capability | null {
    const { gate, plan } = step;
    if (gate !== null && gate.hides !== 'field' && !this.#granted.has(gate.capability))
      return gate.capability;
    if (plan === null) return null;
    switch (plan.kind) {
      case 'leaf':
      case 'list':
      case 'record':
        return null;
      case 'object':
        return firstOf(plan.fields, ([, field]) =>
          field.nullable && field.gate?.hides !== 'owner' ? null : this.#firstHiding(field),
        );
      case 'union':
        return firstOf(plan.options, (option) => this.#firstHiding(option.step));
    }
  }
}

function isHidden(seen: unknown): boolean {
  return seen === HIDDEN || seen === OWNER_HIDDEN;
}

function firstOf<One, Found>(list: readonly One[], look: (one: One) => Found | null): Found | null {
  for (const one of list) {
    const found = look(one);
    if (found !== null) return found;
  }
  return null;
}

function chooseOption(plan: Extract<Plan, { kind: 'union' }>, value: unknown): Option | null {
  if (plan.discriminator === null || typeof value !== 'object' || value === null) return null;
  const key: unknown = (value as Record<string, unknown>)[plan.discriminator];
  return plan.options.find((option) => option.values?.has(key) === true) ?? null;
}

/** Zod's own description of a schema, as far as the walk reads it. */
interface Definition {
  readonly type: string;
  readonly innerType?: $ZodType;
  readonly element?: $ZodType;
  readonly valueType?: $ZodType;
  readonly shape?: Readonly<Record<string, $ZodType>>;
  readonly options?: readonly $ZodType[];
  readonly discriminator?: string;
  readonly in?: $ZodType;
  readonly getter?: () => $ZodType;
  readonly values?: readonly unknown[];
}

function stepOf(schema: $ZodType): Step {
  const known = steps.get(schema);
  if (known !== undefined) return known;
  const made = makeStep(schema);
  steps.set(schema, made);
  return made;
}

function makeStep(schema: $ZodType): Step {
  const definition = schema._zod.def as unknown as Definition;
  const gate = GATES.get(schema) ?? null;
  switch (definition.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'readonly':
    case 'catch': {
      const inner = definition.innerType === undefined ? leaf(null) : stepOf(definition.innerType);
      return {
        gate: gate ?? inner.gate,
        plan: inner.plan,
        nullable: inner.nullable || definition.type === 'nullable',
      };
    }
    case 'lazy':
      return definition.getter === undefined ? leaf(gate) : withGate(gate, stepOf(definition.getter()));
    case 'pipe':
      return definition.in === undefined ? leaf(gate) : withGate(gate, stepOf(definition.in));
    case 'array': {
      const element = definition.element === undefined ? leaf(null) : stepOf(definition.element);
      return { gate, nullable: false, plan: isOpen(element) ? null : { kind: 'list', element } };
    }
    case 'record': {
      const value = definition.valueType === undefined ? leaf(null) : stepOf(definition.valueType);
      return { gate, nullable: false, plan: isOpen(value) ? null : { kind: 'record', value } };
    }
    case 'object': {
      const fields = Object.entries(definition.shape ?? {})
        .map(([name, field]) => [name, stepOf(field)] as const)
        .filter(([, step]) => !isOpen(step));
      return { gate, nullable: false, plan: fields.length === 0 ? null : { kind: 'object', fields } };
    }
    case 'union': {
      const options = (definition.options ?? []).map((option): Option => ({
        values: discriminatorValues(option, definition.discriminator ?? null),
        step: stepOf(option),
      }));
      if (options.every((option) => isOpen(option.step))) return leaf(gate);
      const discriminator = definition.discriminator ?? null;
      return { gate, nullable: false, plan: { kind: 'union', discriminator, options } };
    }
    default:
      return leaf(gate);
  }
}

function leaf(gate: Gate | null): Step {
  return { gate, plan: gate === null ? null : { kind: 'leaf' }, nullable: false };
}

function withGate(gate: Gate | null, inner: Step): Step {
  return gate === null ? inner : { ...inner, gate };
}

function isOpen(step: Step): boolean {
  return step.gate === null && step.plan === null;
}

function discriminatorValues(option: $ZodType, discriminator: string | null): ReadonlySet<unknown> | null {
  if (discriminator === null) return null;
  const { shape } = option._zod.def as unknown as Definition;
  const literal = shape?.[discriminator];
  const values = literal === undefined ? undefined : (literal._zod.def as unknown as Definition).values;
  return values === undefined ? null : new Set(values);
}

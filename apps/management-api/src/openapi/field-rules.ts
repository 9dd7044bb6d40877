import type { Schema } from '@berth/contracts/http';
import { mapValues } from '@berth/http';

/** A rule of a field about another one, as the decorators of fields put it. */
export const REQUIRED_UNLESS = 'x-required-unless';
export const EITHER_OR = 'x-either-or';
export const EXCLUDES = 'x-excludes';
const REQUIRES = 'x-requires';
/** No rule about another field: only some kinds of the object have it. */
export const OF_SOME_KINDS = 'x-of-some-kinds';

/** @returns the other field, where this one has a rule of this kind */
export const otherField = (property: Schema | undefined, rule: string): string | undefined => {
  const other = property?.[rule];
  return typeof other === 'string' ? other : undefined;
};

/**
 * Moves what fields say of one another to the object that has them, where a schema says it. Rules stand under an `if` that
 * always holds: validators apply them, and generators, which would make classes of a bare `oneOf`, pass them by.
 */
export function withFieldRules({ properties = {}, ...schema }: Schema): Schema {
  const rules = Object.entries(properties).flatMap(([name, property]) => [
    ...rule(name, otherField(property, REQUIRED_UNLESS), (pair) => ({ anyOf: pair.map(present) })),
    ...rule(name, otherField(property, EITHER_OR), (pair) => ({ oneOf: pair.map(present) })),
    ...rule(name, otherField(property, EXCLUDES), (pair) => ({ not: { required: pair } })),
  ]);
  const needs = Object.entries(properties).flatMap(([name, property]) => {
    const other = otherField(property, REQUIRES);
    return other === undefined ? [] : [[name, [other]] as const];
  });
  return {
    ...schema,
    properties: mapValues(properties, withoutRules),
    ...(needs.length === 0 ? {} : { dependentRequired: Object.fromEntries(needs) }),
    ...(rules.length === 0 ? {} : { if: {}, then: rules.length === 1 ? rules[0] : { allOf: rules } }),
  };
}

const rule = (
  name: string,
  other: string | undefined,
  schemaOf: (pair: readonly string[]) => Schema,
): readonly Schema[] => (other === undefined ? [] : [schemaOf([name, other])]);

const present = (name: string): Schema => ({ required: [name] });

const RULES: ReadonlySet<string> = new Set([REQUIRED_UNLESS, EITHER_OR, EXCLUDES, REQUIRES, OF_SOME_KINDS]);

const withoutRules = (property: Schema): Schema =>
  Object.fromEntries(Object.entries(property).filter(([word]) => !RULES.has(word)));

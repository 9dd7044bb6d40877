import type { ValidationError } from 'class-validator';

/** Every failure as `$.path: reason`, one per field, in the order of the fields. */
export function describeValidationErrors(failures: readonly ValidationError[], path = '$'): readonly string[] {
  return failures.flatMap((failure) => {
    const here = join(path, failure);
    const reasons = Object.values(failure.constraints ?? {}).map(
      (message) => `${here}: ${withoutName(message, failure.property)}`,
    );
    return [...reasons, ...describeValidationErrors(failure.children ?? [], here)];
  });
}

const join = (path: string, { property, target }: ValidationError): string =>
  Array.isArray(target) ? `${path}[${property}]` : `${path}.${property}`;

/** The messages of the validator begin with the field's name, which the path has said already. */
const withoutName = (message: string, property: string): string =>
  message.startsWith(`${property} `) ? message.slice(property.length + 1) : message;

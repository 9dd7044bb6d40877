import { ValidateBy } from 'class-validator';

/**
 * A check of our own.
 *
 * @param problemOf the reason why the value is refused, or null when it is good
 */
export const SatisfiesRule = (name: string, problemOf: (value: unknown) => string | null): PropertyDecorator =>
  ValidateBy({
    name,
    validator: {
      validate: (value) => problemOf(value) === null,
      defaultMessage: (given) => problemOf(given?.value) ?? '',
    },
  });

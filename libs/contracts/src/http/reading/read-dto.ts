import type { Type as ClassType } from '@nestjs/common';
import { validateSync, type ValidatorOptions } from 'class-validator';
import { describeValidationErrors } from './describe-validation-errors.js';
import { instantiate, isPlainObject } from './dto-shape.js';
import { textFailures } from './text-failures.js';

const OPTIONS: ValidatorOptions = {
  forbidUnknownValues: true,
  // One reason per field, every field: the second reason of a value of the wrong type says nothing new.
  stopAtFirstError: true,
};

/**
 * An instance of a class of fields, and what is wrong with it: one reason per field, each as `$.path: reason`.
 *
 * @param isOpen whether fields that the class does not have are left out without a word
 */
export function readDto(
  dtoClass: ClassType,
  value: unknown,
  { isOpen = false }: { readonly isOpen?: boolean } = {},
): { readonly dto: object; readonly errors: readonly string[] } {
  const unknown: string[] = [];
  const dto = instantiate({ dto: dtoClass, isOpen }, isPlainObject(value) ? value : {}, { path: '$', unknown });
  const failures = [...textFailures(dto), ...describeValidationErrors(validateSync(dto, OPTIONS))];
  return { dto, errors: [...unknown, ...firstPerField(failures)] };
}

/** Text that cannot be kept stands first: it is reason enough, whatever else its field wants. */
function firstPerField(failures: readonly string[]): readonly string[] {
  const firsts = new Map<string | undefined, string>();
  for (const failure of failures) {
    const [path] = failure.split(': ', 1);
    if (!firsts.has(path)) firsts.set(path, failure);
  }
  return [...firsts.values()];
}

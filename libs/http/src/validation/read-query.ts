import { readDto } from '@berth/contracts/http';
import { PlatformError } from '@berth/domain';

/**
 * A query of the job API: what its class does not name is let pass, since published clients send more, and its failures
 * are named without a path.
 *
 * @throws PlatformError `invalid-query` with a line for each parameter that cannot be used
 */
export function readQuery<Dto extends object>(dtoClass: new () => Dto, query: Readonly<Record<string, unknown>>): Dto {
  const { dto, errors } = readDto(dtoClass, query, { isOpen: true });
  if (errors.length === 0) return dto as Dto;
  const failures = errors.map((error) => error.replace('$.', ''));
  throw new PlatformError('invalid-query', failures.join('; '), { errors: failures });
}

/** Without the parameters that are there and empty, where those mean the default. */
export const withoutEmpty = (query: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''));

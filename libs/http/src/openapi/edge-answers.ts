import type { ErrorCode } from '@berth/domain';
import type { DeclaredAccess } from '../auth/access.decorator.js';
import type { EdgeHeader } from './edge-headers.js';
import type { KnownParameters } from './path-parameters.js';

/** The ways in which the edge of one interface differs. */
export interface EdgeAnswers {
  /** The access that an operation declares, by the id that the framework gives it. */
  readonly accessOf: (operationId: string) => DeclaredAccess | undefined;
  readonly parametersAfter: KnownParameters;
  /** The component that describes the body of an error. */
  readonly problemSchema: string;
  readonly problemExample: (code: ErrorCode) => object;
  /** The problems of an operation that takes a body. */
  readonly bodyProblems: readonly ErrorCode[];
  /** Problems besides those of keys and methods that several operations answer alike. */
  readonly sharedProblems: readonly ErrorCode[];
  /** Headers that every answer to a good key has. */
  readonly limitHeaders: readonly EdgeHeader[];
}

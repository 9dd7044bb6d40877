export { LARGE_ANSWER_BYTES, STALLED_AFTER_MS, cutOffLate, takenWithinMs } from './answers/limit-answers.js';
export { whenGone } from './answers/when-gone.js';
export { HttpApp, PARAMETER_MAX_CHARACTERS, createHttpApp, type HttpAppOptions } from './app/http-app.js';
export { RawBody } from './app/raw-body.decorator.js';
export { traceparentOf } from './app/request-context.js';
export {
  CurrentCaller,
  Public,
  RequireScope,
  callerOf,
  findCaller,
  handlerRouteOf,
  type DeclaredAccess,
} from './auth/access.decorators.js';
export { API_KEY_DIRECTORY, type ApiKeyDirectory } from './auth/api-key-directory.port.js';
export { hashApiKey, makeApiKey, prefixOfApiKey, type NewApiKey } from './auth/api-key.js';
export { Authenticator, type Caller, type CredentialForm } from './auth/authenticator.js';
export { declaredAccess, routeHandlers, type RouteHandler } from './auth/declared-access.js';
export { BodyBudget, type BodyHold } from './bodies/body-budget.js';
export { takeBody, type TakenBody } from './bodies/body-rooms.js';
export { TrustedProxies, readTrustedProxies } from './callers/trusted-proxies.js';
export { IfMatch } from './conditional/if-match.decorator.js';
export { PreconditionFailed, requireVersion, type VersionMatch } from './conditional/version-tag.js';
export { Versioned } from './conditional/versioned.js';
export { VersionedAnswers } from './conditional/versioned-answers.decorator.js';
export {
  type IdempotencyLedger,
  type IdempotentRequest,
  type KeptAnswer,
} from './idempotency/idempotency-ledger.port.js';
export { parseIdempotencyKey } from './idempotency/idempotency-key.js';
export { Idempotent } from './idempotency/idempotent.decorator.js';
export { ApiProblems, PROBLEMS_EXTENSION, ProblemBody } from './problems/api-problems.decorator.js';
export { problemExample } from './problems/problem-examples.js';
export { PROBLEMS, type ProblemType } from './problems/problem-types.js';
export { ProblemFilter, type ProblemFilterOptions } from './problems/problem.filter.js';
export { toProblem, type Problem } from './problems/problem.js';
export {
  jobRendering,
  managementRendering,
  openAiRendering,
  v1Rendering,
  type ProblemRendering,
  type RenderedProblem,
} from './problems/renderings.js';
export { pointElsewhere, whichApi, type ApiName } from './problems/which-api.js';
export { type RateLimitVerdict, type RateLimiter } from './rate-limit/rate-limiter.port.js';
export { BooleanField } from './validation/fields/boolean-field.js';
export { field, type FieldOptions } from './validation/fields/field-options.js';
export { TextListField, type TextListFieldOptions } from './validation/fields/list-field.js';
export { TextMapField, type TextMapFieldOptions } from './validation/fields/map-field.js';
export {
  NestedField,
  NestedListField,
  VariantField,
  type NestedListFieldOptions,
  type Variant,
} from './validation/fields/nested-field.js';
export { INTEGER_MAX, IntegerField, NumberField, type NumberFieldOptions } from './validation/fields/number-field.js';
export {
  QueryBooleanField,
  QueryIntegerField,
  QueryListField,
  type QueryListFieldOptions,
} from './validation/fields/query-field.js';
export { ChoiceField, NameField, TextField, type TextFieldOptions } from './validation/fields/text-field.js';
export { describeFailures } from './validation/describe-failures.js';
export { ValidationPipe, checkedParameter, parseObject } from './validation/validation.pipe.js';

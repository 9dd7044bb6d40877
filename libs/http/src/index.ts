export { EVENT_STREAM_HEADERS, PING, encodeEvent, encodeRetry, type ServerEvent } from './answers/event-stream.js';
export { onConnectionClosed } from './answers/on-connection-closed.js';
export { StreamedAnswer, StreamedAnswers } from './answers/streamed-answers.js';
export { HttpApp, createHttpApp } from './app/http-app.js';
export { makeRequestId, traceparentOf } from './app/request-context.js';
export { blameWorker } from './app/request-fault.js';
export { statusClass } from './app/status-label.js';
export { CurrentCaller, Public, RequireScope, callerOf, handlerRouteOf } from './auth/access.decorator.js';
export { API_KEY_DIRECTORY, type ApiKeyDirectory } from './auth/api-key-directory.port.js';
export { hashApiKey, makeApiKey, prefixOfApiKey } from './auth/api-key.js';
export { type Caller } from './auth/authenticator.js';
export { declaredAccess, routeHandlers } from './auth/declared-access.js';
export { BodyBudget, type BodyHold } from './bodies/body-budget.js';
export { takeBody, type TakenBody } from './bodies/body-rooms.js';
export { StrangersLines, type LineRoom } from './callers/strangers-lines.js';
export { TrustedProxies, readTrustedProxies } from './callers/trusted-proxies.js';
export { HTTP_DRAIN_MS, moreToStopMs, readDrainDelay } from './connections/drain-times.js';
export { type Dispatch, type DispatchedConnection } from './dispatch/dispatch.js';
export { IfMatch } from './conditional/if-match.decorator.js';
export { requireVersion, type VersionMatch } from './conditional/version-tag.js';
export { VersionedAnswer } from './conditional/versioned-answer.js';
export { VersionedAnswers } from './conditional/versioned-answers.decorator.js';
export {
  type IdempotencyLedger,
  type IdempotentRequest,
  type KeptAnswer,
} from './idempotency/idempotency-ledger.port.js';
export { parseIdempotencyKey } from './idempotency/idempotency-key.js';
export { Idempotent } from './idempotency/idempotent.decorator.js';
export {
  componentName,
  mapComponents,
  mapOperations,
  mapValues,
  resolveSchema,
  type ApiDocument,
  type ApiResponse,
  type Header,
  type MediaType,
  type NamedExample,
  type Operation,
  type OperationPlace,
  type Reference,
} from './openapi/api-document.js';
export { describeEdge } from './openapi/describe-edge.js';
export { headerReferences } from './openapi/edge-headers.js';
export { ID_SCHEMA, type KnownParameters } from './openapi/path-parameters.js';
export { toOpenApi31 } from './openapi/to-openapi-31.js';
export { withoutUnused } from './openapi/without-unused.js';
export { ApiProblems, ProblemBody } from './problems/api-problems.decorator.js';
export { problemExample } from './problems/problem-examples.js';
export { PROBLEMS } from './problems/problem-types.js';
export { toProblem } from './problems/problem.js';
export { jobRendering, managementRendering, openAiRendering, v1Rendering } from './problems/renderings.js';
export { pointElsewhere, whichApi } from './problems/which-api.js';
export { type RateLimitVerdict, type RateLimiter } from './rate-limit/rate-limiter.port.js';
export { readQuery, withoutEmpty } from './validation/read-query.js';
export { ValidationPipe, checkedParameter } from './validation/validation.pipe.js';

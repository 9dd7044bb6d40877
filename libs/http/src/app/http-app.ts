import 'reflect-metadata';
import { NotFoundException, type DynamicModule, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Clock, Random } from '@berth/lifecycle';
import { NO_TRACES, NestLogger, listenError, type Logger, type MetricRegistry, type Traces } from '@berth/telemetry';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
  preHandlerAsyncHookHandler,
  RouteOptions,
} from 'fastify';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { boundAnswers } from '../answers/limit-answers.js';
import { API_KEY_DIRECTORY, type ApiKeyDirectory } from '../auth/api-key-directory.port.js';
import { Admission } from '../auth/admission.js';
import { Authenticator, type CredentialForm } from '../auth/authenticator.js';
import { assertAccessDeclared } from '../auth/declared-access.js';
import { guardHandlers } from '../auth/guard-handlers.js';
import { ArrivingBodies } from '../bodies/arriving-bodies.js';
import { TrustedProxies } from '../callers/trusted-proxies.js';
import { Connections } from '../connections/connections.js';
import { HTTP_DRAIN_MS } from '../connections/drain-times.js';
import { LeavingConnections } from '../connections/leaving-connections.js';
import type { Dispatch } from '../dispatch/dispatch.js';
import { DispatchedRequests } from '../dispatch/dispatched-requests.js';
import { IdempotencyInterceptor } from '../idempotency/idempotency.interceptor.js';
import type { IdempotencyLedger } from '../idempotency/idempotency-ledger.port.js';
import { ProblemFilter } from '../problems/problem.filter.js';
import { toProblem } from '../problems/problem.js';
import type { ProblemRendering } from '../problems/renderings.js';
import type { RateLimiter } from '../rate-limit/rate-limiter.port.js';
import { ValidationPipe } from '../validation/validation.pipe.js';
import { admitRequests, tellRoutesHandlers } from './admit-requests.js';
import { registerBodyParsers } from './body-parsers.js';
import { createEdgeServer } from './edge-server.js';
import { makeRequestId, registerRequestContext } from './request-context.js';
import { RequestLines } from './request-lines.js';
import { registerRequestMetrics } from './request-metrics.js';
import { RouteTable } from './route-table.js';
import { answerUnreadable, refuseTunnels, requireHost } from './unreadable-requests.js';

export interface HttpAppOptions {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: MetricRegistry;
  /** Absent: nothing is recorded. */
  readonly traces?: Traces;
  /** Problem pages are at `{docsUrl}/problems/<code>`. */
  readonly docsUrl: string;
  readonly credentialForm: CredentialForm;
  readonly renderingOf: (request: { readonly url: string }) => ProblemRendering;
  /** @param route its path as declared: `/v2/:endpointId/run` */
  readonly bodyMaxBytes: (route: string) => number;
  /** Whether a `GET` of the route may change something: then there is no `HEAD`, which must not. Absent: none does. */
  readonly getHasEffect?: (route: string) => boolean;
  /** Whose `X-Forwarded-For` is believed. Absent: nobody's. */
  readonly trustedProxies?: TrustedProxies;
  /** Where a path that is not here is served, as a sentence; null, or absent: nowhere that is known. */
  readonly elsewhere?: (url: string) => string | null;
  /** Sees each request before anything else does. Absent: all are answered here. */
  readonly dispatch?: Dispatch;
  /** Absent: callers may ask as often as they like. */
  readonly rateLimiter?: RateLimiter;
  /** Absent: `Idempotency-Key` has no effect. */
  readonly idempotency?: IdempotencyLedger;
  /** Makes a hook that runs before each handler, behind the key and the scope and before the body is looked at. */
  readonly beforeHandlers?: (app: NestFastifyApplication) => preHandlerAsyncHookHandler;
  /** Routes and hooks outside the controllers, before the application's own are registered. */
  readonly configure?: (fastify: FastifyInstance, app: NestFastifyApplication) => void | Promise<void>;
}

interface HttpAppParts {
  readonly clock: Clock;
  readonly lines: RequestLines;
  readonly handedOn: DispatchedRequests;
  readonly leaving: LeavingConnections;
}

/** A Nest application behind our edge: problems, keys, scopes, validation, request ids, metrics. */
export class HttpApp {
  readonly #app: NestFastifyApplication;
  readonly #clock: Clock;
  readonly #handedOn: DispatchedRequests;
  readonly #leaving: LeavingConnections;

  constructor(app: NestFastifyApplication, { clock, handedOn, leaving }: Omit<HttpAppParts, 'lines'>) {
    this.#app = app;
    this.#clock = clock;
    this.#handedOn = handedOn;
    this.#leaving = leaving;
  }

  get nest(): NestFastifyApplication {
    return this.#app;
  }

  /** @param port 0: any free one. @returns the port. @throws StartupError naming `BERTH_HTTP_PORT` when it is taken */
  async listen(host: string, port: number): Promise<number> {
    try {
      await this.#app.listen(port, host);
    } catch (error) {
      throw listenError(error, { host, port, variable: 'BERTH_HTTP_PORT' });
    }
    return (this.#app.getHttpServer().address() as AddressInfo).port;
  }

  /**
   * Each answer says from now on that its connection ends, while connections are still accepted for this time: whoever chooses
   * among servers needs it to notice that this one leaves.
   */
  async leave(acceptMs: number): Promise<void> {
    this.#leaving.leave();
    if (acceptMs > 0) await this.#clock.sleep(acceptMs);
  }

  /**
   * Accepts no connection any more but those that clients take for open, lets requests in flight end for at most `limitMs`, then cuts them off, with those that
   * were handed on and the connections that were upgraded.
   */
  async drain(limitMs = HTTP_DRAIN_MS): Promise<void> {
    this.#leaving.close();
    await this.#leaving.backlogTaken();
    const closed = this.#app.close();
    const timer = new AbortController();
    const late = this.#clock.sleep(limitMs, timer.signal).then(() => 'late' as const);
    const outcome = await Promise.race([closed, late]);
    timer.abort();
    if (outcome === 'late') {
      this.#app.getHttpServer().closeAllConnections();
      this.#handedOn.cut();
    }
    await closed;
  }
}

/** Longest part of a path that a parameter takes; longer ones name nothing. */
export const PARAMETER_MAX_CHARACTERS = 500;

/** @throws Error when a handler does not declare who may call it */
export async function createHttpApp(module: Type | DynamicModule, options: HttpAppOptions): Promise<HttpApp> {
  const { logger, clock, idempotency, metrics, rateLimiter, trustedProxies: proxies = new TrustedProxies() } = options;
  const connections = new Connections({ metrics, proxies });
  const routes = new RouteTable();
  const lines = new RequestLines(logger, clock);
  const filter = new ProblemFilter({ ...options, lines, allowedMethods: (url) => routes.methodsOf(url) });
  const handedOn = new DispatchedRequests({ ...options, connections });
  const leaving = new LeavingConnections();
  const adapter = makeAdapter({ ...options, trustedProxies: proxies, lines, handedOn, leaving }, filter);
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    logger: new NestLogger(logger),
    bodyParser: false,
    abortOnError: false,
  });
  configureFastify(adapter.getInstance(), options, { connections, lines, routes });
  await options.configure?.(adapter.getInstance(), app);
  const directory = app.get<ApiKeyDirectory>(API_KEY_DIRECTORY, { strict: false });
  const authenticator = new Authenticator({ directory, clock, form: options.credentialForm, metrics });
  const admission = new Admission({ authenticator, connections, clock, proxies });
  handedOn.admitBy(admission);
  admitRequests(adapter.getInstance(), admission);
  guardHandlers(adapter.getInstance(), { admission, clock, rateLimiter });
  if (options.beforeHandlers !== undefined) adapter.getInstance().addHook('preHandler', options.beforeHandlers(app));
  app.useGlobalPipes(new ValidationPipe());
  if (idempotency !== undefined) app.useGlobalInterceptors(new IdempotencyInterceptor(idempotency));
  app.useGlobalFilters(filter);
  assertAccessDeclared(app);
  tellRoutesHandlers(app);
  await app.init();
  return new HttpApp(app, { clock, handedOn, leaving });
}

const makeAdapter = (
  {
    handedOn,
    leaving,
    lines,
    ...options
  }: HttpAppOptions &
    Pick<HttpAppParts, 'handedOn' | 'leaving' | 'lines'> & { readonly trustedProxies: TrustedProxies },
  filter: ProblemFilter,
): FastifyAdapter =>
  new FastifyAdapter({
    genReqId: () => makeRequestId(options.random),
    requestIdHeader: false,
    serverFactory: (answer: RequestListener) => createEdgeServer({ handedOn, leaving }, answer),
    // A request on a connection that was kept alive is still answered while the process drains.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: PARAMETER_MAX_CHARACTERS },
    trustProxy: (address: string) => options.trustedProxies.has(address),
    clientErrorHandler: answerUnreadable({
      ...options,
      logger: lines.strangers,
      mayAnswer: (socket) => handedOn.mayInterrupt(socket),
    }),
    // An address that the router cannot even read names nothing that exists. No hook is called for it.
    frameworkErrors: (_error: unknown, request: FastifyRequest, reply: FastifyReply) => {
      lines.strangers.debug(`${request.method} an unreadable address`, { requestId: request.id });
      void reply.header('x-request-id', request.id);
      filter.answer(toProblem(new NotFoundException()), request, reply);
    },
  });

/** As for a method that the path has no handler for. */
const refuseMethod: onRequestHookHandler = (_request, _reply, done) => {
  done(new NotFoundException());
};

function configureFastify(
  fastify: FastifyInstance,
  options: HttpAppOptions,
  {
    connections,
    lines,
    routes,
  }: { readonly connections: Connections; readonly lines: RequestLines; readonly routes: RouteTable },
): void {
  const { bodyMaxBytes, getHasEffect } = options;
  fastify.addHook('onRoute', (route: RouteOptions) => {
    route.bodyLimit = bodyMaxBytes(route.url);
    // The framework adds a HEAD to every GET.
    if (route.method === 'HEAD' && getHasEffect?.(route.url) === true) {
      route.onRequest = refuseMethod;
      route.config = {};
    } else routes.add(route.url, [route.method].flat());
  });
  connections.watch(fastify.server);
  refuseTunnels(fastify.server, {
    ...options,
    logger: lines.strangers,
    isIdle: (socket) => connections.isIdle(socket),
  });
  registerBodyParsers(fastify, new ArrivingBodies(options));
  registerRequestContext(fastify, options.traces ?? NO_TRACES);
  connections.countRequests(fastify);
  requireHost(fastify);
  registerRequestMetrics(fastify, { ...options, lines });
  boundAnswers(fastify, options);
}

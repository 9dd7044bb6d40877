import 'reflect-metadata';
import { NotFoundException, type DynamicModule, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Clock, Random } from '@berth/lifecycle';
import { NestLogger, listenError, type Logger, type MetricRegistry } from '@berth/telemetry';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import type { AddressInfo } from 'node:net';
import { API_KEY_DIRECTORY, type ApiKeyDirectory } from '../auth/api-key-directory.port.js';
import { AuthGuard } from '../auth/auth.guard.js';
import { Authenticator, type CredentialForm } from '../auth/authenticator.js';
import { assertAccessDeclared } from '../auth/declared-access.js';
import { ProblemFilter } from '../problems/problem.filter.js';
import { toProblem } from '../problems/problem.js';
import type { ProblemRendering } from '../problems/renderings.js';
import { ValidationPipe } from '../validation/validation.pipe.js';
import { registerBodyParsers } from './body-parsers.js';
import { makeRequestId, registerRequestContext } from './request-context.js';
import { registerRequestMetrics } from './request-metrics.js';
import { RouteTable } from './route-table.js';

export interface HttpAppOptions {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: MetricRegistry;
  /** Problem pages are at `{docsUrl}/problems/<code>`. */
  readonly docsUrl: string;
  readonly credentialForm: CredentialForm;
  readonly renderingOf: (request: FastifyRequest) => ProblemRendering;
  /** @param route its path as declared: `/v2/:endpointId/run` */
  readonly bodyMaxBytes: (route: string) => number;
  /** Routes and hooks outside the controllers, before the application's own are registered. */
  readonly configure?: (fastify: FastifyInstance, app: NestFastifyApplication) => void | Promise<void>;
}

/** A Nest application behind our edge: problems, keys, scopes, validation, request ids, metrics. */
export class HttpApp {
  readonly #app: NestFastifyApplication;
  readonly #clock: Clock;

  constructor(app: NestFastifyApplication, clock: Clock) {
    this.#app = app;
    this.#clock = clock;
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

  /** Accepts no connection any more, lets requests in flight end for at most `limitMs`, then cuts them off. */
  async drain(limitMs: number): Promise<void> {
    const closed = this.#app.close();
    const timer = new AbortController();
    const late = this.#clock.sleep(limitMs, timer.signal).then(() => 'late' as const);
    const outcome = await Promise.race([closed, late]);
    timer.abort();
    if (outcome === 'late') this.#app.getHttpServer().closeAllConnections();
    await closed;
  }
}

/** Longer than the idle time of the load balancers in front, so that they never send on a connection that we close. */
const KEEP_ALIVE_MS = 75_000;
const REQUEST_ARRIVES_WITHIN_MS = 300_000;
const PARAMETER_MAX_CHARACTERS = 500;

/** @throws Error when a handler does not declare who may call it */
export async function createHttpApp(module: Type | DynamicModule, options: HttpAppOptions): Promise<HttpApp> {
  const { logger, clock } = options;
  const routes = new RouteTable();
  const filter = new ProblemFilter({ ...options, allowedMethods: (url) => routes.methodsOf(url) });
  const adapter = makeAdapter(options, filter);
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    logger: new NestLogger(logger),
    bodyParser: false,
    abortOnError: false,
  });
  configureFastify(adapter.getInstance(), options, routes);
  await options.configure?.(adapter.getInstance(), app);
  const directory = app.get<ApiKeyDirectory>(API_KEY_DIRECTORY, { strict: false });
  const authenticator = new Authenticator({ directory, clock, form: options.credentialForm });
  app.useGlobalGuards(new AuthGuard(authenticator, clock));
  app.useGlobalPipes(new ValidationPipe());
  app.useGlobalFilters(filter);
  assertAccessDeclared(app);
  await app.init();
  return new HttpApp(app, clock);
}

const makeAdapter = ({ random }: HttpAppOptions, filter: ProblemFilter): FastifyAdapter =>
  new FastifyAdapter({
    genReqId: () => makeRequestId(random),
    requestIdHeader: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: REQUEST_ARRIVES_WITHIN_MS,
    // A request on a connection that was kept alive is still answered while the process drains.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: PARAMETER_MAX_CHARACTERS },
    // An address that the router cannot even read names nothing that exists.
    frameworkErrors: (_error: unknown, request: FastifyRequest, reply: FastifyReply) => {
      filter.answer(toProblem(new NotFoundException()), request, reply);
    },
  });

function configureFastify(fastify: FastifyInstance, options: HttpAppOptions, routes: RouteTable): void {
  const { bodyMaxBytes, random } = options;
  fastify.addHook('onRoute', (route: RouteOptions) => {
    route.bodyLimit = bodyMaxBytes(route.url);
    routes.add(route.url, [route.method].flat());
  });
  registerBodyParsers(fastify);
  registerRequestContext(fastify, random);
  registerRequestMetrics(fastify, options);
}

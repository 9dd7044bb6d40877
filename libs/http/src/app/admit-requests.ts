import { NotFoundException, type INestApplicationContext } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ACCESS_METADATA, type DeclaredAccess } from '../auth/access.decorators.js';
import type { Admission } from '../auth/admission.js';
import { routeHandlers } from '../auth/declared-access.js';
import { refusalOfBody } from './unfit-bodies.js';

/** Longer ones are read to their end only for senders with a good key. */
const SMALL_BODY_BYTES = 64 * 1024;

/** What a route's handler declares, where the edge sees it: before any body is read. */
interface RouteAccess {
  readonly access?: DeclaredAccess;
}

/** Run before the routes are made. */
export function tellRoutesAccess(app: INestApplicationContext): void {
  for (const { declared, handler } of routeHandlers(app)) {
    const access = declared<DeclaredAccess>(ACCESS_METADATA);
    RouteConfig({ access })(handler);
  }
}

/**
 * In this order: unknown paths and methods, what the headers say of the body, the key. So a caller without a key costs
 * neither memory nor a wait, whatever body they announce.
 */
export function admitRequests(fastify: FastifyInstance, admission: Admission): void {
  fastify.addHook('onRequest', async (request) => {
    if (request.is404) throw new NotFoundException();
    const access = accessOfRoute(request);
    const refusal = refusalOfBody(request);
    if (refusal !== null) {
      if (access?.kind === 'scope' && isLarge(request)) await admission.admit(request).catch(() => undefined);
      throw refusal;
    }
    if (access?.kind === 'scope') await admission.admit(request);
    else await admission.meet(request);
  });
}

/** Undefined for a route that is no handler's: documents, and methods that a path only seems to have. */
const accessOfRoute = ({ routeOptions }: FastifyRequest): DeclaredAccess | undefined =>
  (routeOptions.config as RouteAccess).access;

const isLarge = ({ headers }: FastifyRequest): boolean =>
  headers['content-length'] === undefined || Number(headers['content-length']) > SMALL_BODY_BYTES;

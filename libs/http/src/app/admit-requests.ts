import { NotFoundException, type INestApplicationContext } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ACCESS_METADATA, handlerRouteOf, type DeclaredAccess, type HandlerRoute } from '../auth/access.decorator.js';
import type { Admission } from '../auth/admission.js';
import { routeHandlers } from '../auth/declared-access.js';
import { refusalOfBody } from './unfit-bodies.js';

/** Longer ones are read to their end only for senders with a good key. */
const SMALL_BODY_BYTES = 64 * 1024;

/** Run before the routes are made. */
export function tellRoutesHandlers(app: INestApplicationContext): void {
  for (const { declared, handler, name } of routeHandlers(app)) {
    const route: HandlerRoute = { handlerName: name, access: declared<DeclaredAccess>(ACCESS_METADATA) };
    RouteConfig(route)(handler);
  }
}

/**
 * In this order: unknown paths and methods, what the headers say of the body, the key. So a caller without a key costs
 * neither memory nor a wait, whatever body they announce.
 */
export function admitRequests(fastify: FastifyInstance, admission: Admission): void {
  fastify.addHook('onRequest', async (request) => {
    if (request.is404) throw new NotFoundException();
    const { access } = handlerRouteOf(request);
    const refusal = refusalOfBody(request);
    if (refusal !== null) {
      if (access?.kind === 'scope' && isLarge(request)) await admission.admit(request).catch(() => undefined);
      throw refusal;
    }
    if (access?.kind === 'scope') await admission.admit(request);
    else await admission.meet(request);
  });
}

const isLarge = ({ headers }: FastifyRequest): boolean =>
  headers['content-length'] === undefined || Number(headers['content-length']) > SMALL_BODY_BYTES;

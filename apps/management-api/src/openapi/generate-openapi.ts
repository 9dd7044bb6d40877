import type { Provider } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AccountsService } from '../accounts/accounts.service.js';
import { ApiKeysService } from '../api-keys/api-keys.service.js';
import { AppModule } from '../app.module.js';
import { CLOCK } from '../clock.port.js';
import { EndpointsService } from '../endpoints/endpoints.service.js';
import { PUBLIC_ADDRESSES } from '../endpoints/public-addresses.port.js';
import { HostSessionsService } from '../host-sessions/host-sessions.service.js';
import { HostsService } from '../hosts/hosts.service.js';
import { ProblemPagesService } from '../problems/problem-pages.service.js';
import { WorkersService } from '../workers/workers.service.js';
import { openApiDocument } from './openapi-document.js';

/** What the controllers are given. In a preview nothing is made of it, but everything has to be named. */
const NAMES: readonly Extract<Provider, { provide: unknown }>['provide'][] = [
  AccountsService,
  ApiKeysService,
  CLOCK,
  EndpointsService,
  HostSessionsService,
  HostsService,
  PUBLIC_ADDRESSES,
  ProblemPagesService,
  WorkersService,
];

/** The document as it is checked in. Nothing is started for it: the controllers' declarations are all it takes. */
export async function generateOpenApi(): Promise<string> {
  const module = AppModule.of(NAMES.map((provide) => ({ provide, useValue: null })));
  const app = await NestFactory.create(module, new FastifyAdapter(), {
    logger: false,
    preview: true,
    abortOnError: false,
  });
  return `${JSON.stringify(openApiDocument(app), null, 2)}\n`;
}

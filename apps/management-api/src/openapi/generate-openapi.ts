import type { Provider } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AccountsService } from '../accounts/accounts-service.js';
import { ApiKeysService } from '../api-keys/api-keys-service.js';
import { AuditStore } from '../audit/audit.store.js';
import { AppModule } from '../app.module.js';
import { CatalogService } from '../catalog/catalog-service.js';
import { CLOCK } from '../clock.port.js';
import { ClustersService } from '../clusters/clusters-service.js';
import { EndpointsService } from '../endpoints/endpoints-service.js';
import { PUBLIC_ADDRESSES } from '../endpoints/public-addresses.port.js';
import { HostSessionsService } from '../host-sessions/host-sessions-service.js';
import { HostsService } from '../hosts/hosts-service.js';
import { JobHistoryService } from '../job-history/job-history-service.js';
import { NetworkVolumesService } from '../network-volumes/network-volumes-service.js';
import { PodsService } from '../pods/pods-service.js';
import { ProblemPagesService } from '../problems/problem-pages-service.js';
import { RegistriesService } from '../registries/registries-service.js';
import { TemplatesService } from '../templates/templates-service.js';
import { ReleasesService } from '../releases/releases-service.js';
import { V1EndpointsService } from '../v1-endpoints/v1-endpoints-service.js';
import { WebhookSecretsService } from '../webhook-secrets/webhook-secrets-service.js';
import { WorkersService } from '../workers/workers-service.js';
import { openApiDocument } from './openapi-document.js';

/** What the controllers are given. In a preview nothing is made of it, but everything has to be named. */
const NAMES: readonly Extract<Provider, { provide: unknown }>['provide'][] = [
  AccountsService,
  AuditStore,
  ApiKeysService,
  CLOCK,
  CatalogService,
  ClustersService,
  EndpointsService,
  HostSessionsService,
  HostsService,
  JobHistoryService,
  NetworkVolumesService,
  PUBLIC_ADDRESSES,
  PodsService,
  ProblemPagesService,
  RegistriesService,
  TemplatesService,
  ReleasesService,
  V1EndpointsService,
  WebhookSecretsService,
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

import type { Provider } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { HardwareCatalog } from '@berth/domain';
import { AccountsService } from '../accounts/index.js';
import { ApiKeysService } from '../api-keys/index.js';
import { AuditStore } from '../audit/index.js';
import { ManagementModule } from '../app/index.js';
import { CatalogService } from '../catalog/index.js';
import { ClustersService } from '../clusters/index.js';
import { EndpointsService, PUBLIC_ADDRESSES } from '../endpoints/index.js';
import { HostSessionsService } from '../host-sessions/index.js';
import { HostsService } from '../hosts/index.js';
import { JobHistoryService } from '../job-history/index.js';
import { NetworkVolumesService } from '../network-volumes/index.js';
import { PodsService } from '../pods/index.js';
import { ProblemPagesService } from '../problems/index.js';
import { RegistriesService } from '../registries/index.js';
import { ScalingHistoryService } from '../scaling-history/index.js';
import { TemplatesService } from '../templates/index.js';
import { ReleasesService } from '../releases/index.js';
import { UsageService } from '../usage/index.js';
import { V1EndpointsService } from '../v1-endpoints/index.js';
import { WebhookSecretsService } from '../webhook-secrets/index.js';
import { WorkerLogsService } from '../worker-logs/index.js';
import { WorkersService } from '../workers/index.js';
import { managementDocument } from './openapi-document.js';

/** The services that controllers are given. In a preview nothing is made of it, but everything has to be named. */
const NAMES: readonly Extract<Provider, { provide: unknown }>['provide'][] = [
  AccountsService,
  AuditStore,
  ApiKeysService,
  CatalogService,
  ClustersService,
  EndpointsService,
  HostSessionsService,
  HostsService,
  JobHistoryService,
  NetworkVolumesService,
  PUBLIC_ADDRESSES,
  HardwareCatalog,
  PodsService,
  ProblemPagesService,
  RegistriesService,
  ScalingHistoryService,
  TemplatesService,
  ReleasesService,
  UsageService,
  V1EndpointsService,
  WebhookSecretsService,
  WorkerLogsService,
  WorkersService,
];

/** The document as it is checked in. Nothing is started for it: the controllers' declarations are all it takes. */
export async function generateOpenApi(): Promise<string> {
  const module = ManagementModule.of(NAMES.map((provide) => ({ provide, useValue: null })));
  const app = await NestFactory.create(module, new FastifyAdapter(), {
    logger: false,
    preview: true,
    abortOnError: false,
  });
  return `${JSON.stringify(managementDocument(app), null, 2)}\n`;
}

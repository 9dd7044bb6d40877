import { fileURLToPath } from 'node:url';
import type { Provider } from '@nestjs/common';
import { API_KEY_DIRECTORY } from '@berth/http';
import type { Clock, Random } from '@berth/lifecycle';
import type { DataSource } from 'typeorm';
import { AccountsService } from './accounts/accounts.service.js';
import { ApiKeysService } from './api-keys/api-keys.service.js';
import { CLOCK } from './clock.port.js';
import type { ManagementConfig } from './config.js';
import { EndpointsService } from './endpoints/endpoints.service.js';
import { PUBLIC_ADDRESSES } from './endpoints/public-addresses.port.js';
import { HostSessionsService } from './host-sessions/host-sessions.service.js';
import { newJoinToken } from './host-sessions/join-token.js';
import { hashSecret } from './host-sessions/secret-hash.js';
import { HostsService } from './hosts/hosts.service.js';
import { AccountsStore } from './persistence/stores/accounts.store.js';
import { ApiKeysStore } from './persistence/stores/api-keys.store.js';
import { EndpointsStore } from './persistence/stores/endpoints.store.js';
import { HostSessionsStore } from './persistence/stores/host-sessions.store.js';
import { HostsStore } from './persistence/stores/hosts.store.js';
import { WorkersStore } from './persistence/stores/workers.store.js';
import type { Database } from './persistence/database.js';
import { ProblemPagesService } from './problems/problem-pages.service.js';
import type { ControlSnapshots } from './snapshots/control-snapshots.port.js';
import { WorkersService } from './workers/workers.service.js';

export interface ServiceParts {
  readonly config: ManagementConfig;
  readonly source: DataSource;
  readonly database: Database;
  readonly snapshots: ControlSnapshots;
  readonly clock: Clock;
  readonly random: Random;
}

/** Beside the programs, in the sources as in the build. */
const PROBLEM_PAGES = fileURLToPath(new URL('../../../docs/problems/', import.meta.url));

/** The services with their adapters: the only place that joins the two. */
export function composeServices(parts: ServiceParts): Provider[] {
  const { clock, config, database, random, snapshots, source } = parts;
  const shared = { clock, random, snapshots };
  const apiKeys = new ApiKeysStore(database);
  const endpoints = new EndpointsService({ ...shared, records: new EndpointsStore(database) });
  return [
    { provide: API_KEY_DIRECTORY, useValue: apiKeys },
    { provide: CLOCK, useValue: clock },
    { provide: PUBLIC_ADDRESSES, useValue: config.addresses },
    provided(AccountsService, new AccountsService({ ...shared, records: new AccountsStore(database) })),
    provided(ApiKeysService, new ApiKeysService({ ...shared, records: apiKeys })),
    provided(EndpointsService, endpoints),
    provided(WorkersService, new WorkersService({ clock, endpoints, records: new WorkersStore(database) })),
    provided(HostsService, new HostsService({ ...shared, records: new HostsStore(database), makeJoinToken })),
    provided(ProblemPagesService, new ProblemPagesService(PROBLEM_PAGES)),
    provided(
      HostSessionsService,
      new HostSessionsService({
        store: new HostSessionsStore(source),
        clock,
        onChange: () => {
          snapshots.announce('all');
        },
      }),
    ),
  ];

  function makeJoinToken(hostId: Parameters<typeof newJoinToken>[0]): { token: string; hash: string } {
    const token = newJoinToken(hostId, random);
    return { token, hash: hashSecret(token) };
  }
}

const provided = <Service extends object>(
  provide: abstract new (...options: never[]) => Service,
  useValue: Service,
): Provider => ({ provide, useValue });

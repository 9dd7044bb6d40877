import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { broker } from './boards/broker.js';
import { endpoint } from './boards/endpoint.js';
import { fleet } from './boards/fleet.js';
import { hosts } from './boards/hosts.js';
import { jobPath } from './boards/job-path.js';
import { slo } from './boards/slo.js';

/** Every dashboard; its `uid` is the name of its file. */
export const makeBoards = (): readonly Dashboard[] => [fleet(), endpoint(), jobPath(), broker(), hosts(), slo()];

import { hasNatsKeys, replaceNatsKeys } from '@berth/broker-access';
import type { DatabaseLogin, InstallationRecord } from '../installation.js';
import type { RotationName } from './rotation-steps.js';
import { brokerKeysOf, databaseLoginOf, issuersOf, restoreKeysOf, rolesOf, secretKeysOf } from './secrets-in-use.js';

/** A file that has a secret in it. The rest of it may have been changed by hand, and stays as it is. */
export interface RotatedPlace {
  readonly path: string;
  /** What of it is replaced, as people find it. */
  readonly what: string;
  /** An installation of an older version may be without it. */
  readonly isOptional: boolean;
  /** Whether it has what this state of the installation has. */
  readonly has: (text: string, stage: InstallationRecord) => boolean;
  /**
   * @param stages all that it may have
   * @returns its text with what `wanted` has; null where it has none of these
   */
  readonly replace: (text: string, stages: readonly InstallationRecord[], wanted: InstallationRecord) => string | null;
}

/** Of older versions, which had none of these. */
const OPTIONAL = new Set(['backup', 'restore', 'operator']);

/** What of a line is a secret, and the line with another one. */
interface SecretLine {
  readonly valueOf: (kept: InstallationRecord) => string;
  readonly find: (text: string) => string | undefined;
  readonly put: (text: string, value: string) => string;
}

const ofEnvironment = (name: string, what: string, { find, put, valueOf }: SecretLine): RotatedPlace => ({
  ...{ path: `env/${name}.env`, what, isOptional: OPTIONAL.has(name) },
  has: (text, stage) => find(text) === valueOf(stage),
  replace: (text, stages, wanted) => {
    const found = find(text);
    if (found === undefined || !stages.some((stage) => valueOf(stage) === found)) return null;
    return put(text, valueOf(wanted));
  },
});

/** The whole value of a variable. */
const variable = (file: string, name: string, valueOf: SecretLine['valueOf']): RotatedPlace => {
  const line = new RegExp(`^${name}=(.*)$`, 'm');
  return ofEnvironment(file, name, {
    valueOf,
    find: (text) => line.exec(text)?.[1],
    put: (text, value) => text.replace(line, () => `${name}=${value}`),
  });
};

const DATABASE_URL = /^(BERTH_DATABASE_URL=\w+:\/\/)([^@\n]*)(?=@)/m;

/** The login alone: where to and how may have been changed by hand. */
const databaseUrl = (file: string): RotatedPlace =>
  ofEnvironment(file, 'BERTH_DATABASE_URL', {
    valueOf: (kept) => loginText(databaseLoginOf(kept)),
    find: (text) => DATABASE_URL.exec(text)?.[2],
    put: (text, value) => text.replace(DATABASE_URL, (_, before: string) => `${before}${value}`),
  });

const loginText = ({ password, user }: DatabaseLogin): string => `${user}:${password}`;

const brokers = ({ plan }: InstallationRecord): readonly RotatedPlace[] =>
  plan.brokerHost.map((_, at) => ({
    path: `broker/broker-${String(at + 1)}.conf`,
    what: 'keys',
    isOptional: false,
    has: (text, stage) => hasNatsKeys(text, brokerKeysOf(stage)),
    replace: (text, stages, wanted) => replaceNatsKeys(text, stages.map(brokerKeysOf), brokerKeysOf(wanted)),
  }));

const PLACES: { readonly [Name in RotationName]: (kept: InstallationRecord) => readonly RotatedPlace[] } = {
  'secret-key': () => [
    ...['management-api', 'job-router', 'backup'].map((name) => variable(name, 'BERTH_SECRET_KEY', secretKeysOf)),
    variable('restore', 'BERTH_SECRET_KEY', restoreKeysOf),
  ],
  'role-keys': (kept) => [
    ...brokers(kept),
    variable('management-api', 'BERTH_NATS_SEED', (each) => rolesOf(each).management),
    variable('management-api', 'BERTH_AGENTS_SEED', (each) => rolesOf(each).sessions),
    variable('management-api', 'BERTH_SYSTEM_SEED', (each) => rolesOf(each).system),
    variable('management-api', 'BERTH_AUTH_SEED', (each) => rolesOf(each).callout),
    variable('controllers', 'BERTH_NATS_SEED', (each) => rolesOf(each).controllers),
    variable('job-router', 'BERTH_NATS_SEED', (each) => rolesOf(each).router),
    variable('job-router', 'BERTH_AGENTS_SEED', (each) => rolesOf(each).gateway),
    variable('operator', 'BERTH_NATS_SEED', (each) => rolesOf(each).operator),
    variable('backup', 'BERTH_NATS_SEED', (each) => rolesOf(each).backup),
    variable('restore', 'BERTH_NATS_SEED', (each) => rolesOf(each).restore),
  ],
  issuer: (kept) => [...brokers(kept), variable('management-api', 'BERTH_AUTH_ISSUER_SEED', issuersOf)],
  'database-password': () => [
    variable('postgres', 'POSTGRES_USER', (each) => databaseLoginOf(each).user),
    variable('postgres', 'POSTGRES_PASSWORD', (each) => databaseLoginOf(each).password),
    ...['migrate', 'management-api', 'controllers', 'operator', 'backup', 'restore'].map(databaseUrl),
  ],
};

/** Where a secret is, in the order in which it is replaced there. */
export const placesOf = (name: RotationName, kept: InstallationRecord): readonly RotatedPlace[] => PLACES[name](kept);

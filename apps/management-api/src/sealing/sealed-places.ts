import type { AccountId, EndpointId, FieldChange } from '@berth/domain';
import type { SecretBox } from '@berth/secrets';
import { ChangeSeal, type Database, EnvSeal } from '../persistence/index.js';
import type { RegistryCredentialsService } from '../registries/index.js';
import type { WebhookSecretKeeper } from '../webhook-secrets/index.js';
import { readerOf, type SealedColumn, type SealedPlace, type SealedRow } from './sealed-place.js';

export interface SealedPlacesParts {
  readonly database: Database;
  readonly secrets: SecretBox;
  readonly credentials: Pick<RegistryCredentialsService, 'reseal'>;
  readonly webhookSecrets: Pick<WebhookSecretKeeper, 'reseal'>;
}

/** A column that is changed where it is. */
interface OwnColumn extends SealedColumn {
  /** Only if it still holds what was read: key `$1`, as read `$2`, sealed anew `$3`. */
  readonly replace: string;
  reseal(stale: string, row: SealedRow): string;
}

/** Every place of the database that holds sealed text. */
export function sealedPlaces(parts: SealedPlacesParts): readonly SealedPlace[] {
  const { credentials, database, secrets, webhookSecrets } = parts;
  const { prefix } = secrets;
  const envs = new EnvSeal(secrets);
  const changes = new ChangeSeal(secrets);
  const own: OwnColumn[] = [registryColumn(credentials), ...envColumns(envs), ...changeColumns(changes)];
  return [
    ...own.map((column) => ownPlace(column, database, prefix)),
    {
      ...readerOf(WEBHOOK_SECRETS, database, prefix),
      // Its keeper is the one writer: it locks the endpoint, and tells the routers.
      renew: async ({ accountId, key: [id, ordinal] }) => {
        const endpoint = { accountId: accountId as AccountId, id: id as EndpointId };
        await database.run(() => webhookSecrets.reseal(endpoint, Number(ordinal)));
        return true;
      },
    },
    // They are large, and end by themselves within a day.
    { ...readerOf(KEPT_ANSWERS, database, prefix), renew: () => Promise.resolve(false) },
  ];
}

function ownPlace(column: OwnColumn, database: Database, prefix: string): SealedPlace {
  return {
    ...readerOf(column, database, prefix),
    renew: async (row) => {
      if (row.stale === null) return true;
      const values = [row.key, row.stale, column.reseal(row.stale, row)];
      const [, count] = await database.read((manager) => manager.query<[unknown, number]>(column.replace, values));
      return count === 1;
    },
  };
}

const ID = { name: 'id', type: 'text' } as const;
const KEY_1 = '($1::text[])[1]';
const KEY_2 = '($1::text[])[2]';

// --- Columns of text ----------------------------------------------------------------------------------------------

const isOther = (text: string): string => `NOT starts_with(${text}, $3)`;

const registryColumn = (credentials: SealedPlacesParts['credentials']): OwnColumn => ({
  kind: 'registry',
  from: 'registries',
  key: [ID],
  accountId: 'account_id',
  text: 'sealed_credentials',
  isStale: isOther('sealed_credentials'),
  replace: `UPDATE registries SET sealed_credentials = $3 WHERE id = ${KEY_1} AND sealed_credentials = $2`,
  reseal: (sealedCredentials, { accountId, key: [id = ''] }) =>
    credentials.reseal({ accountId: accountId as AccountId, id, sealedCredentials }),
});

const WEBHOOK_SECRETS: SealedColumn = {
  kind: 'webhook-secret',
  from: 'webhook_secrets s JOIN endpoints e ON e.id = s.endpoint_id',
  key: [
    { name: 's.endpoint_id', type: 'text' },
    { name: 's.ordinal', type: 'integer' },
  ],
  accountId: 'e.account_id',
  text: 's.sealed_secret',
  isStale: isOther('s.sealed_secret'),
};

const KEPT_ANSWERS: SealedColumn = {
  kind: 'kept-answer',
  from: 'idempotency_keys',
  key: [
    { name: 'account_id', type: 'text' },
    { name: 'route', type: 'text' },
    { name: 'key', type: 'text' },
  ],
  accountId: 'account_id',
  text: `''`,
  isStale: `sealed IS NOT NULL AND ${isOther('left(sealed, 16)')}`,
};

// --- Environment variables, which are one sealed text in JSON -----------------------------------------------------

/** Plain variables are another loop's. */
const isOtherEnv = (env: string): string => `jsonb_typeof(${env}) = 'string' AND ${isOther(textOf(env))}`;
const textOf = (env: string): string => `(${env} #>> '{}')`;

function envColumns(envs: EnvSeal): readonly OwnColumn[] {
  const resealAs =
    (kind: 'endpoint' | 'template') =>
    (sealed: string, { accountId, key: [id = ''] }: SealedRow): string =>
      envs.reseal(sealed, { kind, accountId: accountId as AccountId, id });
  return ENV_COLUMNS.map(({ column, owner, path, table, ...rest }) => ({
    ...rest,
    accountId: 'account_id',
    text: textOf(column),
    isStale: isOtherEnv(column),
    replace: `UPDATE ${table} SET ${path} AND ${textOf(column)} = $2`,
    reseal: resealAs(owner),
  }));
}

const RELEASE_KEY = [
  { name: 'r.endpoint_id', type: 'text' },
  { name: 'r.release', type: 'integer' },
] as const;
const RELEASES = 'releases r JOIN endpoints e ON e.id = r.endpoint_id';

const ENV_COLUMNS = [
  {
    kind: 'endpoint-env',
    owner: 'endpoint',
    from: 'endpoints',
    table: 'endpoints',
    key: [ID],
    column: `spec->'container'->'env'`,
    path: `spec = jsonb_set(spec, '{container,env}', to_jsonb($3::text)) WHERE id = ${KEY_1}`,
  },
  {
    kind: 'release-env',
    owner: 'endpoint',
    from: RELEASES,
    table: 'releases',
    key: RELEASE_KEY,
    column: `container->'env'`,
    path: `container = jsonb_set(container, '{env}', to_jsonb($3::text))
            WHERE endpoint_id = ${KEY_1} AND release = ${KEY_2}::integer`,
  },
  {
    kind: 'template-env',
    owner: 'template',
    from: 'templates',
    table: 'templates',
    key: [ID],
    column: 'env',
    path: `env = to_jsonb($3::text) WHERE id = ${KEY_1}`,
  },
] as const;

// --- What changes tell of variables -------------------------------------------------------------------------------

const STALE_VALUE =
  '$[*] ? (@.field starts with "env.").* ? (@ like_regex "^v1[.][0-9a-f]{8}[.]" && !(@ starts with $first))';
const isOtherDiff = `jsonb_path_exists(diff, '${STALE_VALUE}', jsonb_build_object('first', $3::text))`;

const changeColumns = (changes: ChangeSeal): readonly OwnColumn[] => [
  {
    kind: 'release-change',
    from: RELEASES,
    key: RELEASE_KEY,
    accountId: 'e.account_id',
    text: 'diff::text',
    isStale: isOtherDiff,
    replace: `UPDATE releases SET diff = $3::jsonb
               WHERE endpoint_id = ${KEY_1} AND release = ${KEY_2}::integer AND diff = $2::jsonb`,
    reseal: (diff, { accountId, key: [resourceId = ''] }) => resealDiff(changes, diff, { accountId, resourceId }),
  },
  {
    kind: 'audit-change',
    from: 'audit_entries',
    key: [
      { name: 'id', type: 'bigint' },
      // It is no part of the key, but the entry is sealed for it.
      { name: 'resource_id', type: 'text' },
    ],
    accountId: 'account_id',
    text: 'diff::text',
    isStale: isOtherDiff,
    replace: `UPDATE audit_entries SET diff = $3::jsonb WHERE id = ${KEY_1}::bigint AND diff = $2::jsonb`,
    reseal: (diff, { accountId, key: [, resourceId = ''] }) => resealDiff(changes, diff, { accountId, resourceId }),
  },
];

const resealDiff = (changes: ChangeSeal, diff: string, owner: Parameters<ChangeSeal['reseal']>[1]): string =>
  JSON.stringify(changes.reseal(JSON.parse(diff) as FieldChange[], owner));

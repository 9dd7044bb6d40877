import { ForwardMigration } from '../../forward-migration.js';

/** Endpoints that change: a version, what each release changed and who made it, and no row that no request could make. */
export class EndpointReleases1763800000000 extends ForwardMigration {
  readonly name = 'EndpointReleases1763800000000';
  protected readonly statements = STATEMENTS;
}

/** False, not unknown, where a member is missing or of another type: a check lets the unknown pass. */
const holds = (column: string, path: string): string => `(${column} @@ '${path}') IS TRUE`;

const isInteger = (path: string): string => `${path}.floor() == ${path}`;

const containerPath = (container: string): string =>
  [
    `${container}.image like_regex "^\\\\S+$"`,
    `${container}.args.type() == "string"`,
    `(${container}.diskGb == null || ${container}.diskGb >= 1)`,
    `${container}.env.type() == "object"`,
    `${container}.ports.type() == "array"`,
    `(${container}.registryId == null || ${container}.registryId.type() == "string")`,
  ].join(' && ');

const GPU_PATH = '$.cpu == null && $.gpu.pools.size() >= 1 && $.gpu.pools[0].type() == "string" && $.gpu.count >= 1';
const CPU_PATH = '$.gpu == null && $.cpu.size() >= 1 && $.cpu[0].vcpuCount >= 2';
const WORKERS_PATH = `$.workers.min >= 0 && $.workers.min <= $.workers.max && $.workers.max <= 1000
    && ${isInteger('$.workers.min')} && ${isInteger('$.workers.max')}`;
const IDLE_PATH = `($.type == "QUEUE" && $.scaling.type == "REQUEST_COUNT" && $.workers.idleTimeoutSeconds == null)
    || (!($.type == "QUEUE" && $.scaling.type == "REQUEST_COUNT")
        && $.workers.idleTimeoutSeconds >= 1 && $.workers.idleTimeoutSeconds <= 3600)`;
const SCALING_PATH = `($.scaling.type == "QUEUE_DELAY" && $.type == "QUEUE" && $.scaling.queueDelaySeconds >= 0.5)
    || ($.scaling.type == "REQUEST_COUNT" && $.scaling.requestCount >= 1 && ${isInteger('$.scaling.requestCount')})`;
const PLACES_PATH = '$.dataCenterIds.type() == "array" && $.networkVolumeIds.type() == "array"';
const FLASHBOOT_PATH = '$.flashboot == "OFF" || $.flashboot == "FLASHBOOT" || $.flashboot == "PRIORITY_FLASHBOOT"';

const STATEMENTS: readonly string[] = [
  `ALTER TABLE endpoints
     ADD COLUMN version integer NOT NULL DEFAULT 1 CHECK (version >= 1),
     ADD CONSTRAINT endpoints_of_account_key UNIQUE (account_id, id),
     ADD CONSTRAINT endpoints_name
       CHECK ((jsonb_typeof(spec->'name') = 'string' AND char_length(spec->>'name') BETWEEN 1 AND 255) IS TRUE),
     ADD CONSTRAINT endpoints_type CHECK (${holds('spec', '$.type == "QUEUE" || $.type == "LOAD_BALANCER"')}),
     ADD CONSTRAINT endpoints_compute CHECK (${holds('spec', `(${GPU_PATH}) || (${CPU_PATH})`)}),
     ADD CONSTRAINT endpoints_container CHECK (${holds('spec', containerPath('$.container'))}),
     ADD CONSTRAINT endpoints_workers CHECK (${holds('spec', WORKERS_PATH)}),
     ADD CONSTRAINT endpoints_idle_timeout CHECK (${holds('spec', IDLE_PATH)}),
     ADD CONSTRAINT endpoints_scaling CHECK (${holds('spec', SCALING_PATH)}),
     ADD CONSTRAINT endpoints_places CHECK (${holds('spec', PLACES_PATH)}),
     ADD CONSTRAINT endpoints_flashboot CHECK (${holds('spec', FLASHBOOT_PATH)}),
     ADD CONSTRAINT endpoints_timeout
       CHECK (${holds('spec', '$.executionTimeoutMs >= 1000 && $.executionTimeoutMs <= 604800000')})`,
  `ALTER TABLE releases
     ADD COLUMN diff jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(diff) = 'array'),
     ADD COLUMN created_by text CHECK (created_by <> ''),
     ADD CONSTRAINT releases_container_whole CHECK (${holds('container', containerPath('$'))})`,
];

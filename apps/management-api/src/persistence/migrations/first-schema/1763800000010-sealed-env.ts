import { ForwardMigration } from '../../forward-migration.js';

/**
 * Environment variables rest sealed. Existing variables stay readable and are sealed by the next process that has the
 * key.
 */
export class SealedEnv1763800000010 extends ForwardMigration {
  readonly name = 'SealedEnv1763800000010';
  protected readonly statements = STATEMENTS;
}

/** False, not unknown, where a member is missing or of another type: a check lets the unknown pass. */
const holds = (column: string, path: string): string => `(${column} @@ '${path}') IS TRUE`;

const SEALED = '^v1[.][0-9a-f]{8}[.][A-Za-z0-9_-]+$';

const containerPath = (container: string): string =>
  [
    `${container}.image like_regex "^\\\\S+$"`,
    `${container}.args.type() == "string"`,
    `(${container}.diskGb == null || ${container}.diskGb >= 1)`,
    `(${container}.env.type() == "object" || ${container}.env like_regex "${SEALED}")`,
    `${container}.ports.type() == "array"`,
    `(${container}.registryId == null || ${container}.registryId.type() == "string")`,
  ].join(' && ');

const STATEMENTS: readonly string[] = [
  `ALTER TABLE endpoints
     DROP CONSTRAINT endpoints_container,
     ADD CONSTRAINT endpoints_container CHECK (${holds('spec', containerPath('$.container'))})`,
  `ALTER TABLE releases
     DROP CONSTRAINT releases_container_whole,
     ADD CONSTRAINT releases_container_whole CHECK (${holds('container', containerPath('$'))})`,
  `ALTER TABLE templates
     DROP CONSTRAINT templates_env_check,
     ADD CONSTRAINT templates_env_check CHECK (
       (jsonb_typeof(env) = 'object' AND NOT env @? 'strict $.* ? (@.type() != "string")')
       OR (jsonb_typeof(env) = 'string' AND env #>> '{}' ~ '${SEALED}'))`,
];

import { ForwardMigration } from '../forward-migration.js';

/** A load-balanced endpoint may let callers in without a key. */
export class LoadBalancerAccess1763800000054 extends ForwardMigration {
  readonly name = 'LoadBalancerAccess1763800000054';
  protected readonly statements = STATEMENTS;
}

const ACCESS_PATH =
  '$.loadBalancer.isPublic.type() == "boolean" && $.loadBalancer.allowsPreflights.type() == "boolean"';

const STATEMENTS: readonly string[] = [
  `ALTER TABLE endpoints
     ADD CONSTRAINT endpoints_load_balancer
       CHECK (NOT spec ? 'loadBalancer' OR (spec @@ '$.type == "LOAD_BALANCER" && ${ACCESS_PATH}') IS TRUE),
     ADD CONSTRAINT endpoints_health_check_path
       CHECK (NOT spec ? 'healthCheckPath' OR (spec @@ '$.type == "LOAD_BALANCER" && $.healthCheckPath starts with "/"') IS TRUE)`,
];

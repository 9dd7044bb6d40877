import { ForwardMigration } from '../../forward-migration.js';

/**
 * Clusters and pods. The resources of an account that they name are found by account and id, so they can be nobody
 * else's.
 */
export class ClustersPods1763800000003 extends ForwardMigration {
  readonly name = 'ClustersPods1763800000003';
  protected readonly statements = STATEMENTS;
}

const STATEMENTS: readonly string[] = [
  `CREATE TABLE clusters (
     id text PRIMARY KEY CHECK (id <> ''),
     account_id text NOT NULL REFERENCES accounts ON DELETE CASCADE,
     name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
     type text NOT NULL CHECK (type IN ('APPLICATION', 'TRAINING', 'SLURM', 'RAY')),
     gpu_type_id text NOT NULL CHECK (gpu_type_id <> ''),
     gpu_count_per_pod integer NOT NULL CHECK (gpu_count_per_pod >= 1),
     pod_count integer NOT NULL CHECK (pod_count BETWEEN 2 AND 250),
     template_id text CHECK (template_id <> ''),
     network_cidr cidr,
     vxlan_id integer CHECK (vxlan_id BETWEEN 0 AND 16777215),
     vxlan_port integer CHECK (vxlan_port BETWEEN 1 AND 65535),
     created_at timestamptz NOT NULL DEFAULT now(),
     UNIQUE (account_id, id),
     CONSTRAINT clusters_network CHECK (network_cidr IS NOT NULL OR (vxlan_id IS NULL AND vxlan_port IS NULL))
   )`,
  `CREATE INDEX clusters_of_account ON clusters (account_id, created_at)`,
  `CREATE TABLE pods (
     id text PRIMARY KEY CHECK (id <> ''),
     account_id text NOT NULL REFERENCES accounts ON DELETE CASCADE,
     name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
     image text NOT NULL CHECK (image ~ '^\\S+$'),
     args text NOT NULL,
     disk_gb integer NOT NULL CHECK (disk_gb >= 2),
     env jsonb NOT NULL CHECK (jsonb_typeof(env) = 'object' AND NOT env @? 'strict $.* ? (@.type() != "string")'),
     ports text[] NOT NULL CHECK (array_to_string(ports, ',', '-') ~ '^([1-9]\\d{0,4}/(http|tcp|udp)(,|$))*$'),
     registry_id text,
     gpu_type_id text CHECK (gpu_type_id <> ''),
     gpu_count integer CHECK (gpu_count >= 1),
     cpu_flavor_id text CHECK (cpu_flavor_id <> ''),
     vcpu_count integer CHECK (vcpu_count >= 2 AND vcpu_count & (vcpu_count - 1) = 0),
     memory_gb integer CHECK (memory_gb >= 2),
     mount_gb integer CHECK (mount_gb >= 10),
     mount_path text CHECK (mount_path LIKE '/%'),
     cloud text NOT NULL CHECK (cloud IN ('SECURE', 'COMMUNITY')),
     data_center_id text CHECK (data_center_id <> ''),
     cuda_version text CHECK (cuda_version ~ '^\\d+\\.\\d+$'),
     status text NOT NULL
       CHECK (status IN ('PROVISIONING', 'STARTING', 'RUNNING', 'EXITED', 'ERROR', 'TERMINATED')),
     reason text NOT NULL,
     ssh_proxy jsonb CHECK (jsonb_typeof(ssh_proxy) = 'object'),
     ssh_direct jsonb CHECK (jsonb_typeof(ssh_direct) = 'object'),
     template_id text CHECK (template_id <> ''),
     cost_usd_per_hour double precision NOT NULL CHECK (cost_usd_per_hour >= 0 AND cost_usd_per_hour < 'Infinity'),
     is_locked boolean NOT NULL,
     global_ip inet,
     internal_dns text CHECK (internal_dns <> ''),
     runtime jsonb CHECK (jsonb_typeof(runtime) = 'object'),
     created_at timestamptz NOT NULL DEFAULT now(),
     started_at timestamptz,
     cluster_id text,
     cluster_rank integer CHECK (cluster_rank BETWEEN 0 AND 249),
     cluster_ip inet,
     cluster_role text CHECK (cluster_role IN ('SLURM_CONTROLLER', 'SLURM_COMPUTE', 'RAY_HEAD', 'RAY_WORKER')),
     UNIQUE (account_id, id),
     CONSTRAINT pods_rank UNIQUE (cluster_id, cluster_rank),
     CONSTRAINT pods_compute CHECK ((gpu_type_id IS NULL) <> (cpu_flavor_id IS NULL)),
     CONSTRAINT pods_gpu CHECK ((gpu_type_id IS NULL) = (gpu_count IS NULL)),
     CONSTRAINT pods_cpu CHECK (
       (cpu_flavor_id IS NULL) = (vcpu_count IS NULL) AND (cpu_flavor_id IS NULL) = (memory_gb IS NULL)),
     CONSTRAINT pods_mount CHECK ((mount_gb IS NULL) = (mount_path IS NULL)),
     CONSTRAINT pods_global_network CHECK ((global_ip IS NULL) = (internal_dns IS NULL)),
     CONSTRAINT pods_membership CHECK (
       cluster_id IS NOT NULL OR (cluster_rank IS NULL AND cluster_ip IS NULL AND cluster_role IS NULL)),
     CONSTRAINT pods_of_clusters_have_gpus CHECK (cluster_id IS NULL OR gpu_type_id IS NOT NULL),
     CONSTRAINT pods_cluster FOREIGN KEY (account_id, cluster_id) REFERENCES clusters (account_id, id),
     CONSTRAINT pods_registry FOREIGN KEY (account_id, registry_id) REFERENCES registries (account_id, id)
   )`,
  `CREATE INDEX pods_of_account ON pods (account_id, created_at)`,
  `CREATE INDEX pods_of_registry ON pods (account_id, registry_id) WHERE registry_id IS NOT NULL`,
  `CREATE TABLE pod_volumes (
     account_id text NOT NULL,
     pod_id text NOT NULL,
     volume_id text NOT NULL,
     path text NOT NULL CHECK (path LIKE '/%'),
     PRIMARY KEY (pod_id, volume_id),
     UNIQUE (pod_id, path),
     CONSTRAINT pod_volumes_pod FOREIGN KEY (account_id, pod_id) REFERENCES pods (account_id, id) ON DELETE CASCADE,
     CONSTRAINT pod_volumes_volume FOREIGN KEY (account_id, volume_id) REFERENCES network_volumes (account_id, id)
   )`,
  `CREATE INDEX pod_volumes_of_volume ON pod_volumes (account_id, volume_id)`,
];

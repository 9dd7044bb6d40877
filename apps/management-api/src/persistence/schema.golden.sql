CREATE TABLE accounts (
  id text NOT NULL,
  name text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  deleted_at timestamp with time zone,
  version integer NOT NULL DEFAULT 1,
  limits jsonb NOT NULL DEFAULT '{}'::jsonb,
  CONSTRAINT accounts_pkey PRIMARY KEY (id),
  CONSTRAINT accounts_id CHECK ((id <> ''::text)),
  CONSTRAINT accounts_limits CHECK (
CASE jsonb_typeof(limits)
    WHEN 'object'::text THEN (NOT (limits @? 'strict $.*?((@.type() != "number" || @ < 1) || @.floor() != @)'::jsonpath))
    ELSE false
END),
  CONSTRAINT accounts_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
  CONSTRAINT accounts_version CHECK ((version >= 1))
);

CREATE TABLE api_keys (
  id text NOT NULL,
  account_id text NOT NULL,
  name text NOT NULL,
  prefix text NOT NULL,
  hash text NOT NULL,
  scopes text[] NOT NULL,
  endpoint_ids text[],
  expires_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT api_keys_pkey PRIMARY KEY (id),
  CONSTRAINT api_keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
  CONSTRAINT api_keys_endpoints CHECK (((cardinality(endpoint_ids) > 0) AND (array_position(endpoint_ids, NULL::text) IS NULL))),
  CONSTRAINT api_keys_hash_check CHECK ((hash ~ '^[0-9a-f]{64}$'::text)),
  CONSTRAINT api_keys_id CHECK ((id <> ''::text)),
  CONSTRAINT api_keys_life CHECK ((expires_at > created_at)),
  CONSTRAINT api_keys_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
  CONSTRAINT api_keys_prefix CHECK ((prefix ~ '^[a-z0-9]{8,16}$'::text)),
  CONSTRAINT api_keys_prefix_key UNIQUE (prefix),
  CONSTRAINT api_keys_scopes CHECK ((scopes <@ ARRAY['serverless:read'::text, 'jobs:read'::text, 'templates:read'::text, 'registries:read'::text, 'volumes:read'::text, 'clusters:read'::text, 'keys:read'::text, 'catalog:read'::text, 'serverless:write'::text, 'jobs:write'::text, 'templates:write'::text, 'registries:write'::text, 'volumes:write'::text, 'clusters:write'::text, 'keys:write'::text, 'usage:read'::text, 'admin'::text])),
  CONSTRAINT api_keys_scopes_check CHECK ((cardinality(scopes) > 0))
);
CREATE INDEX api_keys_of_account ON public.api_keys USING btree (account_id, created_at);

CREATE TABLE audit_entries (
  id bigint NOT NULL,
  at timestamp with time zone NOT NULL,
  account_id text NOT NULL,
  api_key_id text NOT NULL,
  action text NOT NULL,
  resource_id text NOT NULL,
  diff jsonb NOT NULL,
  request_id text,
  CONSTRAINT audit_entries_pkey PRIMARY KEY (id),
  CONSTRAINT audit_entries_account_id_check CHECK ((account_id <> ''::text)),
  CONSTRAINT audit_entries_action_check CHECK ((action ~ '^[a-z-]+\.[a-z-]+$'::text)),
  CONSTRAINT audit_entries_api_key_id_check CHECK ((api_key_id <> ''::text)),
  CONSTRAINT audit_entries_diff_check CHECK ((jsonb_typeof(diff) = 'array'::text)),
  CONSTRAINT audit_entries_request_id_check CHECK ((request_id <> ''::text)),
  CONSTRAINT audit_entries_resource_id_check CHECK ((resource_id <> ''::text))
);
CREATE INDEX audit_entries_of_account ON public.audit_entries USING btree (account_id, id);
CREATE INDEX audit_entries_of_resource ON public.audit_entries USING btree (resource_id, id);

CREATE TABLE clusters (
  id text NOT NULL,
  account_id text NOT NULL,
  name text NOT NULL,
  type text NOT NULL,
  gpu_type_id text NOT NULL,
  gpu_count_per_pod integer NOT NULL,
  pod_count integer NOT NULL,
  template_id text,
  network_cidr cidr,
  vxlan_id integer,
  vxlan_port integer,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT clusters_pkey PRIMARY KEY (id),
  CONSTRAINT clusters_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
  CONSTRAINT clusters_account_id_id_key UNIQUE (account_id, id),
  CONSTRAINT clusters_gpu_count_per_pod_check CHECK ((gpu_count_per_pod >= 1)),
  CONSTRAINT clusters_gpu_type_id_check CHECK ((gpu_type_id <> ''::text)),
  CONSTRAINT clusters_id_check CHECK ((id <> ''::text)),
  CONSTRAINT clusters_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
  CONSTRAINT clusters_network CHECK (((network_cidr IS NOT NULL) OR ((vxlan_id IS NULL) AND (vxlan_port IS NULL)))),
  CONSTRAINT clusters_pod_count_check CHECK (((pod_count >= 2) AND (pod_count <= 250))),
  CONSTRAINT clusters_template_id_check CHECK ((template_id <> ''::text)),
  CONSTRAINT clusters_type_check CHECK ((type = ANY (ARRAY['APPLICATION'::text, 'TRAINING'::text, 'SLURM'::text, 'RAY'::text]))),
  CONSTRAINT clusters_vxlan_id_check CHECK (((vxlan_id >= 0) AND (vxlan_id <= 16777215))),
  CONSTRAINT clusters_vxlan_port_check CHECK (((vxlan_port >= 1) AND (vxlan_port <= 65535)))
);
CREATE INDEX clusters_of_account ON public.clusters USING btree (account_id, created_at);

CREATE TABLE deleted_volumes (
  id text NOT NULL,
  account_id text NOT NULL,
  storage_id text NOT NULL,
  deleted_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT deleted_volumes_pkey PRIMARY KEY (id),
  CONSTRAINT deleted_volumes_account_id_check CHECK ((account_id <> ''::text)),
  CONSTRAINT deleted_volumes_id_check CHECK ((id <> ''::text)),
  CONSTRAINT deleted_volumes_storage_id_check CHECK ((storage_id <> ''::text))
);
CREATE INDEX deleted_volumes_of_storage ON public.deleted_volumes USING btree (storage_id, deleted_at);

CREATE TABLE departed_workers (
  worker_id text NOT NULL,
  endpoint_id text NOT NULL,
  host_id text NOT NULL,
  departed_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT departed_workers_pkey PRIMARY KEY (worker_id),
  CONSTRAINT departed_workers_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES endpoints(id) ON DELETE CASCADE,
  CONSTRAINT departed_workers_host_id_fkey FOREIGN KEY (host_id) REFERENCES hosts(id) ON DELETE CASCADE,
  CONSTRAINT departed_workers_id CHECK ((worker_id <> ''::text))
);
CREATE INDEX departed_workers_of_endpoint ON public.departed_workers USING btree (endpoint_id, departed_at);
CREATE INDEX departed_workers_of_host ON public.departed_workers USING btree (host_id);
CREATE INDEX departed_workers_oldest ON public.departed_workers USING btree (departed_at);

CREATE TABLE endpoint_scaling (
  endpoint_id text NOT NULL,
  desired integer NOT NULL,
  reason text NOT NULL,
  detail text NOT NULL,
  waiting jsonb NOT NULL DEFAULT '[]'::jsonb,
  decided_at timestamp with time zone NOT NULL,
  unplaced integer NOT NULL DEFAULT 0,
  starts jsonb,
  CONSTRAINT endpoint_scaling_pkey PRIMARY KEY (endpoint_id),
  CONSTRAINT endpoint_scaling_desired_check CHECK ((desired >= 0)),
  CONSTRAINT endpoint_scaling_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES endpoints(id) ON DELETE CASCADE,
  CONSTRAINT endpoint_scaling_reason CHECK ((reason <> ''::text)),
  CONSTRAINT endpoint_scaling_starts CHECK ((jsonb_typeof(starts) = 'object'::text)),
  CONSTRAINT endpoint_scaling_unplaced CHECK ((unplaced >= 0)),
  CONSTRAINT endpoint_scaling_waiting_check CHECK ((jsonb_typeof(waiting) = 'array'::text))
);
CREATE INDEX endpoint_scaling_wanted ON public.endpoint_scaling USING btree (endpoint_id) WHERE (desired > 0);

CREATE TABLE endpoint_volumes (
  account_id text NOT NULL,
  endpoint_id text NOT NULL,
  volume_id text NOT NULL,
  CONSTRAINT endpoint_volumes_pkey PRIMARY KEY (endpoint_id, volume_id),
  CONSTRAINT endpoint_volumes_endpoint FOREIGN KEY (account_id, endpoint_id) REFERENCES endpoints(account_id, id) ON DELETE CASCADE,
  CONSTRAINT endpoint_volumes_volume FOREIGN KEY (account_id, volume_id) REFERENCES network_volumes(account_id, id)
);
CREATE INDEX endpoint_volumes_of_volume ON public.endpoint_volumes USING btree (account_id, volume_id);

CREATE TABLE endpoints (
  id text NOT NULL,
  account_id text NOT NULL,
  spec jsonb NOT NULL,
  release integer NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  deleted_at timestamp with time zone,
  version integer NOT NULL DEFAULT 1,
  registry_id text DEFAULT 
CASE
    WHEN (deleted_at IS NULL) THEN ((spec -> 'container'::text) ->> 'registryId'::text)
    ELSE NULL::text
END,
  CONSTRAINT endpoints_pkey PRIMARY KEY (id),
  CONSTRAINT endpoints_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
  CONSTRAINT endpoints_compute CHECK (((spec @@ '((($."cpu" == null && $."gpu"."pools".size() >= 1) && $."gpu"."pools"[0].type() == "string") && $."gpu"."count" >= 1 || ($."gpu" == null && $."cpu".size() >= 1) && $."cpu"[0]."vcpuCount" >= 2)'::jsonpath) IS TRUE)),
  CONSTRAINT endpoints_container CHECK (((spec @@ '((((($."container"."image" like_regex "^\\S+$" && $."container"."args".type() == "string") && ($."container"."diskGb" == null || $."container"."diskGb" >= 1)) && ($."container"."env".type() == "object" || $."container"."env" like_regex "^v1[.][0-9a-f]{8}[.][A-Za-z0-9_-]+$")) && $."container"."ports".type() == "array") && ($."container"."registryId" == null || $."container"."registryId".type() == "string"))'::jsonpath) IS TRUE)),
  CONSTRAINT endpoints_flashboot CHECK (((spec @@ '(($."flashboot" == "OFF" || $."flashboot" == "FLASHBOOT") || $."flashboot" == "PRIORITY_FLASHBOOT")'::jsonpath) IS TRUE)),
  CONSTRAINT endpoints_health_check_path CHECK (((NOT (spec ? 'healthCheckPath'::text)) OR ((spec @@ '($."type" == "LOAD_BALANCER" && $."healthCheckPath" starts with "/")'::jsonpath) IS TRUE))),
  CONSTRAINT endpoints_id CHECK ((id <> ''::text)),
  CONSTRAINT endpoints_idle_timeout CHECK (((spec @@ '(($."type" == "QUEUE" && $."scaling"."type" == "REQUEST_COUNT") && $."workers"."idleTimeoutSeconds" == null || (!($."type" == "QUEUE" && $."scaling"."type" == "REQUEST_COUNT") && $."workers"."idleTimeoutSeconds" >= 1) && $."workers"."idleTimeoutSeconds" <= 3600)'::jsonpath) IS TRUE)),
  CONSTRAINT endpoints_latest_release FOREIGN KEY (id, release) REFERENCES releases(endpoint_id, release) DEFERRABLE INITIALLY DEFERRED,
  CONSTRAINT endpoints_load_balancer CHECK (((NOT (spec ? 'loadBalancer'::text)) OR ((spec @@ '(($."type" == "LOAD_BALANCER" && $."loadBalancer"."isPublic".type() == "boolean") && $."loadBalancer"."allowsPreflights".type() == "boolean")'::jsonpath) IS TRUE))),
  CONSTRAINT endpoints_name CHECK ((((jsonb_typeof((spec -> 'name'::text)) = 'string'::text) AND ((char_length((spec ->> 'name'::text)) >= 1) AND (char_length((spec ->> 'name'::text)) <= 255))) IS TRUE)),
  CONSTRAINT endpoints_of_account_key UNIQUE (account_id, id),
  CONSTRAINT endpoints_places CHECK (((spec @@ '($."dataCenterIds".type() == "array" && $."networkVolumeIds".type() == "array")'::jsonpath) IS TRUE)),
  CONSTRAINT endpoints_registry FOREIGN KEY (account_id, registry_id) REFERENCES registries(account_id, id),
  CONSTRAINT endpoints_release_check CHECK ((release >= 1)),
  CONSTRAINT endpoints_scaling CHECK (((spec @@ '(($."scaling"."type" == "QUEUE_DELAY" && $."type" == "QUEUE") && $."scaling"."queueDelaySeconds" >= 0.5 || ($."scaling"."type" == "REQUEST_COUNT" && $."scaling"."requestCount" >= 1) && $."scaling"."requestCount".floor() == $."scaling"."requestCount")'::jsonpath) IS TRUE)),
  CONSTRAINT endpoints_spec_check CHECK ((jsonb_typeof(spec) = 'object'::text)),
  CONSTRAINT endpoints_timeout CHECK (((spec @@ '($."executionTimeoutMs" >= 1000 && $."executionTimeoutMs" <= 604800000)'::jsonpath) IS TRUE)),
  CONSTRAINT endpoints_type CHECK (((spec @@ '($."type" == "QUEUE" || $."type" == "LOAD_BALANCER")'::jsonpath) IS TRUE)),
  CONSTRAINT endpoints_version_check CHECK ((version >= 1)),
  CONSTRAINT endpoints_workers CHECK (((spec @@ '(((($."workers"."min" >= 0 && $."workers"."min" <= $."workers"."max") && $."workers"."max" <= 1000) && $."workers"."min".floor() == $."workers"."min") && $."workers"."max".floor() == $."workers"."max")'::jsonpath) IS TRUE))
);
CREATE INDEX endpoints_deleted ON public.endpoints USING btree (id) WHERE (deleted_at IS NOT NULL);
CREATE INDEX endpoints_of_account ON public.endpoints USING btree (account_id, created_at) WHERE (deleted_at IS NULL);
CREATE INDEX endpoints_of_registry ON public.endpoints USING btree (account_id, registry_id) WHERE (registry_id IS NOT NULL);
CREATE INDEX endpoints_with_minimum ON public.endpoints USING btree (id) WHERE ((((spec -> 'workers'::text) ->> 'min'::text))::integer > 0);

CREATE TABLE hosts (
  id text NOT NULL,
  name text NOT NULL,
  data_center_id text NOT NULL,
  labels jsonb NOT NULL DEFAULT '{}'::jsonb,
  intent text NOT NULL DEFAULT 'ready'::text,
  secret_hash text,
  inventory jsonb,
  instance_id text,
  report_sequence integer NOT NULL DEFAULT 0,
  last_seen_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT hosts_pkey PRIMARY KEY (id),
  CONSTRAINT hosts_data_center_id_check CHECK ((data_center_id <> ''::text)),
  CONSTRAINT hosts_id CHECK ((id <> ''::text)),
  CONSTRAINT hosts_intent_check CHECK ((intent = ANY (ARRAY['ready'::text, 'cordoned'::text, 'draining'::text]))),
  CONSTRAINT hosts_inventory_check CHECK ((jsonb_typeof(inventory) = 'object'::text)),
  CONSTRAINT hosts_inventory_whole CHECK (((inventory IS NULL) OR ((inventory @@ 'strict ((($."vcpus" >= 0 && $."memoryBytes" >= 0) && $."diskBytes" >= 0) && $."gpus".type() == "array")'::jsonpath) IS TRUE))),
  CONSTRAINT hosts_label_values CHECK ((NOT (labels @? 'strict $.*?(@.type() != "string")'::jsonpath))),
  CONSTRAINT hosts_labels_check CHECK ((jsonb_typeof(labels) = 'object'::text)),
  CONSTRAINT hosts_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
  CONSTRAINT hosts_report_sequence_check CHECK ((report_sequence >= 0)),
  CONSTRAINT hosts_secret_hash_check CHECK ((secret_hash ~ '^[0-9a-f]{64}$'::text))
);

CREATE TABLE idempotency_keys (
  account_id text NOT NULL,
  route text NOT NULL,
  key text NOT NULL,
  status integer,
  sealed text,
  tag text,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (account_id, route, key),
  CONSTRAINT idempotency_keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
  CONSTRAINT idempotency_keys_check CHECK (((status IS NULL) = (sealed IS NULL))),
  CONSTRAINT idempotency_keys_check1 CHECK (((tag IS NULL) OR (sealed IS NOT NULL))),
  CONSTRAINT idempotency_keys_key_check CHECK ((key ~ '^[!-~]{1,255}$'::text)),
  CONSTRAINT idempotency_keys_route_check CHECK ((route ~ '^[A-Z]+ /'::text)),
  CONSTRAINT idempotency_keys_sealed_check CHECK (((sealed ~ '^v1\.[0-9a-f]{8}\.[A-Za-z0-9_-]+$'::text) AND (octet_length(sealed) <= 4194304))),
  CONSTRAINT idempotency_keys_status_check CHECK (((status >= 200) AND (status <= 299)))
);
CREATE INDEX idempotency_keys_by_end ON public.idempotency_keys USING btree (expires_at);

CREATE TABLE job_history (
  account_id text NOT NULL,
  endpoint_id text NOT NULL,
  job_id text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  status text NOT NULL,
  origin text NOT NULL,
  started_at timestamp with time zone,
  ended_at timestamp with time zone,
  delay_ms bigint NOT NULL,
  execution_ms bigint NOT NULL,
  host_id text,
  worker_id text,
  attempts integer NOT NULL,
  attempt_list jsonb NOT NULL,
  error text,
  webhook text,
  attempt integer NOT NULL,
  CONSTRAINT job_history_pkey PRIMARY KEY (endpoint_id, job_id, created_at),
  CONSTRAINT job_history_account_id_check CHECK ((account_id <> ''::text)),
  CONSTRAINT job_history_attempt_check CHECK ((attempt >= 1)),
  CONSTRAINT job_history_attempt_list_check CHECK ((jsonb_typeof(attempt_list) = 'array'::text)),
  CONSTRAINT job_history_attempts_check CHECK ((attempts >= 0)),
  CONSTRAINT job_history_delay_ms_check CHECK ((delay_ms >= 0)),
  CONSTRAINT job_history_end CHECK (
CASE
    WHEN (status = ANY (ARRAY['COMPLETED'::text, 'FAILED'::text, 'CANCELLED'::text, 'TIMED_OUT'::text])) THEN (ended_at IS NOT NULL)
    WHEN (status = ANY (ARRAY['IN_QUEUE'::text, 'IN_PROGRESS'::text])) THEN (ended_at IS NULL)
    ELSE false
END),
  CONSTRAINT job_history_endpoint_id_check CHECK ((endpoint_id <> ''::text)),
  CONSTRAINT job_history_error_check CHECK ((char_length(error) <= 4096)),
  CONSTRAINT job_history_execution_ms_check CHECK ((execution_ms >= 0)),
  CONSTRAINT job_history_host_id_check CHECK ((host_id <> ''::text)),
  CONSTRAINT job_history_job_id_check CHECK ((job_id <> ''::text)),
  CONSTRAINT job_history_origin_check CHECK ((origin = ANY (ARRAY['run'::text, 'runsync'::text]))),
  CONSTRAINT job_history_place CHECK ((num_nulls(started_at, host_id, worker_id) = ANY (ARRAY[0, 3]))),
  CONSTRAINT job_history_webhook_check CHECK ((char_length(webhook) <= 4096)),
  CONSTRAINT job_history_worker_id_check CHECK ((worker_id <> ''::text))
) PARTITION BY RANGE (created_at);
CREATE INDEX job_history_list ON ONLY public.job_history USING btree (account_id, endpoint_id, status, created_at DESC, job_id DESC);

CREATE TABLE job_history_shards (
  shard integer NOT NULL,
  stream_created text NOT NULL,
  sequence bigint NOT NULL,
  complete_until timestamp with time zone,
  CONSTRAINT job_history_shards_pkey PRIMARY KEY (shard),
  CONSTRAINT job_history_shards_sequence_check CHECK ((sequence >= 0)),
  CONSTRAINT job_history_shards_shard_check CHECK ((shard >= 0)),
  CONSTRAINT job_history_shards_stream_created_check CHECK ((stream_created <> ''::text))
);

CREATE TABLE join_tokens (
  host_id text NOT NULL,
  hash text NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  used_at timestamp with time zone,
  CONSTRAINT join_tokens_pkey PRIMARY KEY (host_id),
  CONSTRAINT join_tokens_hash_check CHECK ((hash ~ '^[0-9a-f]{64}$'::text)),
  CONSTRAINT join_tokens_hash_key UNIQUE (hash),
  CONSTRAINT join_tokens_host_id_fkey FOREIGN KEY (host_id) REFERENCES hosts(id) ON DELETE CASCADE
);

CREATE TABLE leader_leases (
  name text NOT NULL,
  holder text NOT NULL,
  term bigint NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT leader_leases_pkey PRIMARY KEY (name),
  CONSTRAINT leader_leases_holder CHECK ((holder <> ''::text)),
  CONSTRAINT leader_leases_name CHECK ((name <> ''::text)),
  CONSTRAINT leader_leases_term_check CHECK ((term >= 1))
);

CREATE TABLE network_volumes (
  id text NOT NULL,
  account_id text NOT NULL,
  name text NOT NULL,
  size_gb integer NOT NULL,
  data_center_id text NOT NULL,
  type text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  storage_id text,
  CONSTRAINT network_volumes_pkey PRIMARY KEY (id),
  CONSTRAINT network_volumes_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
  CONSTRAINT network_volumes_account_id_id_key UNIQUE (account_id, id),
  CONSTRAINT network_volumes_data_center_id_check CHECK (((char_length(data_center_id) >= 1) AND (char_length(data_center_id) <= 255))),
  CONSTRAINT network_volumes_id_check CHECK ((id <> ''::text)),
  CONSTRAINT network_volumes_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
  CONSTRAINT network_volumes_size_gb_check CHECK (((size_gb >= 10) AND (size_gb <= 4096))),
  CONSTRAINT network_volumes_storage_id_check CHECK ((storage_id <> ''::text)),
  CONSTRAINT network_volumes_type_check CHECK ((type = ANY (ARRAY['STANDARD'::text, 'HIGH_PERFORMANCE'::text])))
);
CREATE INDEX network_volumes_of_account ON public.network_volumes USING btree (account_id, created_at);

CREATE TABLE pod_volumes (
  account_id text NOT NULL,
  pod_id text NOT NULL,
  volume_id text NOT NULL,
  path text NOT NULL,
  CONSTRAINT pod_volumes_pkey PRIMARY KEY (pod_id, volume_id),
  CONSTRAINT pod_volumes_path_check CHECK ((path ~~ '/%'::text)),
  CONSTRAINT pod_volumes_pod FOREIGN KEY (account_id, pod_id) REFERENCES pods(account_id, id) ON DELETE CASCADE,
  CONSTRAINT pod_volumes_pod_id_path_key UNIQUE (pod_id, path),
  CONSTRAINT pod_volumes_volume FOREIGN KEY (account_id, volume_id) REFERENCES network_volumes(account_id, id)
);
CREATE INDEX pod_volumes_of_volume ON public.pod_volumes USING btree (account_id, volume_id);

CREATE TABLE pods (
  id text NOT NULL,
  account_id text NOT NULL,
  name text NOT NULL,
  image text NOT NULL,
  args text NOT NULL,
  disk_gb integer NOT NULL,
  env jsonb NOT NULL,
  ports text[] NOT NULL,
  registry_id text,
  gpu_type_id text,
  gpu_count integer,
  cpu_flavor_id text,
  vcpu_count integer,
  memory_gb integer,
  mount_gb integer,
  mount_path text,
  cloud text NOT NULL,
  data_center_id text,
  cuda_version text,
  status text NOT NULL,
  reason text NOT NULL,
  ssh_proxy jsonb,
  ssh_direct jsonb,
  template_id text,
  cost_usd_per_hour double precision NOT NULL,
  is_locked boolean NOT NULL,
  global_ip inet,
  internal_dns text,
  runtime jsonb,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  started_at timestamp with time zone,
  cluster_id text,
  cluster_rank integer,
  cluster_ip inet,
  cluster_role text,
  CONSTRAINT pods_pkey PRIMARY KEY (id),
  CONSTRAINT pods_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
  CONSTRAINT pods_account_id_id_key UNIQUE (account_id, id),
  CONSTRAINT pods_cloud_check CHECK ((cloud = ANY (ARRAY['SECURE'::text, 'COMMUNITY'::text]))),
  CONSTRAINT pods_cluster FOREIGN KEY (account_id, cluster_id) REFERENCES clusters(account_id, id),
  CONSTRAINT pods_cluster_rank_check CHECK (((cluster_rank >= 0) AND (cluster_rank <= 249))),
  CONSTRAINT pods_cluster_role_check CHECK ((cluster_role = ANY (ARRAY['SLURM_CONTROLLER'::text, 'SLURM_COMPUTE'::text, 'RAY_HEAD'::text, 'RAY_WORKER'::text]))),
  CONSTRAINT pods_compute CHECK (((gpu_type_id IS NULL) <> (cpu_flavor_id IS NULL))),
  CONSTRAINT pods_cost_usd_per_hour_check CHECK (((cost_usd_per_hour >= (0)::double precision) AND (cost_usd_per_hour < 'Infinity'::double precision))),
  CONSTRAINT pods_cpu CHECK ((((cpu_flavor_id IS NULL) = (vcpu_count IS NULL)) AND ((cpu_flavor_id IS NULL) = (memory_gb IS NULL)))),
  CONSTRAINT pods_cpu_flavor_id_check CHECK ((cpu_flavor_id <> ''::text)),
  CONSTRAINT pods_cuda_version_check CHECK ((cuda_version ~ '^\d+\.\d+$'::text)),
  CONSTRAINT pods_data_center_id_check CHECK ((data_center_id <> ''::text)),
  CONSTRAINT pods_disk_gb_check CHECK ((disk_gb >= 2)),
  CONSTRAINT pods_env_check CHECK (((jsonb_typeof(env) = 'object'::text) AND (NOT (env @? 'strict $.*?(@.type() != "string")'::jsonpath)))),
  CONSTRAINT pods_global_network CHECK (((global_ip IS NULL) = (internal_dns IS NULL))),
  CONSTRAINT pods_gpu CHECK (((gpu_type_id IS NULL) = (gpu_count IS NULL))),
  CONSTRAINT pods_gpu_count_check CHECK ((gpu_count >= 1)),
  CONSTRAINT pods_gpu_type_id_check CHECK ((gpu_type_id <> ''::text)),
  CONSTRAINT pods_id_check CHECK ((id <> ''::text)),
  CONSTRAINT pods_image_check CHECK ((image ~ '^\S+$'::text)),
  CONSTRAINT pods_internal_dns_check CHECK ((internal_dns <> ''::text)),
  CONSTRAINT pods_membership CHECK (((cluster_id IS NOT NULL) OR ((cluster_rank IS NULL) AND (cluster_ip IS NULL) AND (cluster_role IS NULL)))),
  CONSTRAINT pods_memory_gb_check CHECK ((memory_gb >= 2)),
  CONSTRAINT pods_mount CHECK (((mount_gb IS NULL) = (mount_path IS NULL))),
  CONSTRAINT pods_mount_gb_check CHECK ((mount_gb >= 10)),
  CONSTRAINT pods_mount_path_check CHECK ((mount_path ~~ '/%'::text)),
  CONSTRAINT pods_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
  CONSTRAINT pods_of_clusters_have_gpus CHECK (((cluster_id IS NULL) OR (gpu_type_id IS NOT NULL))),
  CONSTRAINT pods_ports_check CHECK ((array_to_string(ports, ','::text, '-'::text) ~ '^([1-9]\d{0,4}/(http|tcp|udp)(,|$))*$'::text)),
  CONSTRAINT pods_rank UNIQUE (cluster_id, cluster_rank),
  CONSTRAINT pods_registry FOREIGN KEY (account_id, registry_id) REFERENCES registries(account_id, id),
  CONSTRAINT pods_runtime_check CHECK ((jsonb_typeof(runtime) = 'object'::text)),
  CONSTRAINT pods_ssh_direct_check CHECK ((jsonb_typeof(ssh_direct) = 'object'::text)),
  CONSTRAINT pods_ssh_proxy_check CHECK ((jsonb_typeof(ssh_proxy) = 'object'::text)),
  CONSTRAINT pods_status_check CHECK ((status = ANY (ARRAY['PROVISIONING'::text, 'STARTING'::text, 'RUNNING'::text, 'EXITED'::text, 'ERROR'::text, 'TERMINATED'::text]))),
  CONSTRAINT pods_template_id_check CHECK ((template_id <> ''::text)),
  CONSTRAINT pods_vcpu_count_check CHECK (((vcpu_count >= 2) AND ((vcpu_count & (vcpu_count - 1)) = 0)))
);
CREATE INDEX pods_of_account ON public.pods USING btree (account_id, created_at);
CREATE INDEX pods_of_registry ON public.pods USING btree (account_id, registry_id) WHERE (registry_id IS NOT NULL);

CREATE TABLE rate_windows (
  account_id text NOT NULL,
  at timestamp with time zone NOT NULL,
  minute_used integer NOT NULL,
  hour_used integer NOT NULL,
  day_used integer NOT NULL,
  is_admitted boolean NOT NULL,
  CONSTRAINT rate_windows_pkey PRIMARY KEY (account_id),
  CONSTRAINT rate_windows_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
  CONSTRAINT rate_windows_day_used_check CHECK ((day_used >= 0)),
  CONSTRAINT rate_windows_hour_used_check CHECK ((hour_used >= 0)),
  CONSTRAINT rate_windows_minute_used_check CHECK ((minute_used >= 0))
);

CREATE TABLE registries (
  id text NOT NULL,
  account_id text NOT NULL,
  name text NOT NULL,
  sealed_credentials text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT registries_pkey PRIMARY KEY (id),
  CONSTRAINT registries_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
  CONSTRAINT registries_account_id_id_key UNIQUE (account_id, id),
  CONSTRAINT registries_id_check CHECK ((id <> ''::text)),
  CONSTRAINT registries_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
  CONSTRAINT registries_sealed_credentials_check CHECK ((sealed_credentials ~ '^v1\.[0-9a-f]{8}\.[A-Za-z0-9_-]+$'::text))
);
CREATE INDEX registries_of_account ON public.registries USING btree (account_id, created_at);

CREATE TABLE releases (
  endpoint_id text NOT NULL,
  release integer NOT NULL,
  container jsonb NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  diff jsonb NOT NULL DEFAULT '[]'::jsonb,
  created_by text,
  image_digest text,
  CONSTRAINT releases_pkey PRIMARY KEY (endpoint_id, release),
  CONSTRAINT releases_container_check CHECK ((jsonb_typeof(container) = 'object'::text)),
  CONSTRAINT releases_container_whole CHECK (((container @@ '((((($."image" like_regex "^\\S+$" && $."args".type() == "string") && ($."diskGb" == null || $."diskGb" >= 1)) && ($."env".type() == "object" || $."env" like_regex "^v1[.][0-9a-f]{8}[.][A-Za-z0-9_-]+$")) && $."ports".type() == "array") && ($."registryId" == null || $."registryId".type() == "string"))'::jsonpath) IS TRUE)),
  CONSTRAINT releases_created_by_check CHECK ((created_by <> ''::text)),
  CONSTRAINT releases_diff_check CHECK ((jsonb_typeof(diff) = 'array'::text)),
  CONSTRAINT releases_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES endpoints(id) ON DELETE CASCADE,
  CONSTRAINT releases_image_digest CHECK ((image_digest ~ '^sha256:[0-9a-f]{64}$'::text)),
  CONSTRAINT releases_release_check CHECK ((release >= 1))
);

CREATE TABLE removed_nodes (
  host_id text NOT NULL,
  name text NOT NULL,
  data_center_id text NOT NULL,
  removed_at timestamp with time zone NOT NULL,
  CONSTRAINT removed_nodes_pkey PRIMARY KEY (host_id),
  CONSTRAINT removed_nodes_data_center_id_check CHECK ((data_center_id <> ''::text)),
  CONSTRAINT removed_nodes_host_id_check CHECK ((host_id <> ''::text)),
  CONSTRAINT removed_nodes_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255)))
);

CREATE TABLE running_catalogs (
  process text NOT NULL,
  app text NOT NULL,
  digest text NOT NULL,
  file text,
  said_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT running_catalogs_pkey PRIMARY KEY (process),
  CONSTRAINT running_catalogs_app_check CHECK ((app <> ''::text)),
  CONSTRAINT running_catalogs_digest_check CHECK ((digest ~ '^[0-9a-f]{64}$'::text)),
  CONSTRAINT running_catalogs_file_check CHECK ((file <> ''::text)),
  CONSTRAINT running_catalogs_process_check CHECK ((process <> ''::text))
);

CREATE TABLE scaling_decisions (
  endpoint_id text NOT NULL,
  ordinal bigint NOT NULL,
  at timestamp with time zone NOT NULL,
  desired_before integer NOT NULL,
  desired integer NOT NULL,
  reason text NOT NULL,
  detail text NOT NULL,
  inputs jsonb NOT NULL,
  outcome jsonb NOT NULL,
  CONSTRAINT scaling_decisions_pkey PRIMARY KEY (endpoint_id, ordinal),
  CONSTRAINT scaling_decisions_desired_before_check CHECK ((desired_before >= 0)),
  CONSTRAINT scaling_decisions_desired_check CHECK ((desired >= 0)),
  CONSTRAINT scaling_decisions_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES endpoints(id) ON DELETE CASCADE,
  CONSTRAINT scaling_decisions_inputs_check CHECK ((jsonb_typeof(inputs) = 'object'::text)),
  CONSTRAINT scaling_decisions_ordinal_check CHECK ((ordinal >= 1)),
  CONSTRAINT scaling_decisions_outcome_check CHECK ((jsonb_typeof(outcome) = 'object'::text)),
  CONSTRAINT scaling_decisions_reason CHECK ((reason <> ''::text))
);
CREATE INDEX scaling_decisions_by_age ON public.scaling_decisions USING btree (at);

CREATE TABLE seeded_keys (
  hash text NOT NULL,
  seeded_at timestamp with time zone NOT NULL,
  CONSTRAINT seeded_keys_pkey PRIMARY KEY (hash),
  CONSTRAINT seeded_keys_hash_check CHECK ((hash ~ '^[0-9a-f]{64}$'::text))
);

CREATE TABLE snapshot_outbox (
  position bigint NOT NULL,
  bucket text NOT NULL,
  key text NOT NULL,
  changed_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT snapshot_outbox_pkey PRIMARY KEY ("position"),
  CONSTRAINT snapshot_outbox_bucket_check CHECK ((bucket <> ''::text)),
  CONSTRAINT snapshot_outbox_key_check CHECK ((key <> ''::text))
);
CREATE INDEX snapshot_outbox_keys ON public.snapshot_outbox USING btree (bucket, key);

CREATE TABLE templates (
  id text NOT NULL,
  account_id text NOT NULL,
  name text NOT NULL,
  image text NOT NULL,
  args text NOT NULL,
  disk_gb integer,
  env jsonb NOT NULL,
  ports text[] NOT NULL,
  registry_id text,
  mount_gb integer,
  mount_path text,
  is_serverless boolean NOT NULL,
  is_public boolean NOT NULL,
  source text NOT NULL,
  category text NOT NULL,
  starts_ssh boolean NOT NULL,
  starts_jupyter boolean NOT NULL,
  allowed_cuda_versions text[] NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT templates_pkey PRIMARY KEY (id),
  CONSTRAINT templates_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
  CONSTRAINT templates_allowed_cuda_versions_check CHECK ((array_to_string(allowed_cuda_versions, ','::text, '-'::text) ~ '^(\d+\.\d+(,|$))*$'::text)),
  CONSTRAINT templates_category_check CHECK ((category = ANY (ARRAY['CPU'::text, 'NVIDIA'::text, 'AMD'::text]))),
  CONSTRAINT templates_disk_gb_check CHECK ((disk_gb >= 1)),
  CONSTRAINT templates_env_check CHECK ((((jsonb_typeof(env) = 'object'::text) AND (NOT (env @? 'strict $.*?(@.type() != "string")'::jsonpath))) OR ((jsonb_typeof(env) = 'string'::text) AND ((env #>> '{}'::text[]) ~ '^v1[.][0-9a-f]{8}[.][A-Za-z0-9_-]+$'::text)))),
  CONSTRAINT templates_id_check CHECK ((id <> ''::text)),
  CONSTRAINT templates_image_check CHECK ((image ~ '^\S+$'::text)),
  CONSTRAINT templates_mount CHECK (((mount_gb IS NULL) = (mount_path IS NULL))),
  CONSTRAINT templates_mount_gb_check CHECK ((mount_gb >= 10)),
  CONSTRAINT templates_mount_path_check CHECK ((mount_path ~~ '/%'::text)),
  CONSTRAINT templates_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
  CONSTRAINT templates_ports_check CHECK ((array_to_string(ports, ','::text, '-'::text) ~ '^([1-9]\d{0,4}/(http|tcp|udp)(,|$))*$'::text)),
  CONSTRAINT templates_registry FOREIGN KEY (account_id, registry_id) REFERENCES registries(account_id, id) ON DELETE SET NULL (registry_id),
  CONSTRAINT templates_source_check CHECK ((source = ANY (ARRAY['official'::text, 'verified'::text, 'community'::text])))
);
CREATE INDEX templates_of_account ON public.templates USING btree (account_id, created_at);
CREATE INDEX templates_of_registry ON public.templates USING btree (account_id, registry_id) WHERE (registry_id IS NOT NULL);
CREATE INDEX templates_public ON public.templates USING btree (created_at) WHERE is_public;

CREATE TABLE usage_hours (
  account_id text NOT NULL,
  hour timestamp with time zone NOT NULL,
  endpoint_id text NOT NULL,
  gpu_type_id text NOT NULL,
  worker_ms bigint NOT NULL,
  gpu_ms bigint NOT NULL,
  paused_worker_ms bigint NOT NULL,
  paused_gpu_ms bigint NOT NULL,
  CONSTRAINT usage_hours_pkey PRIMARY KEY (account_id, hour, endpoint_id, gpu_type_id),
  CONSTRAINT usage_hours_account_id_check CHECK ((account_id <> ''::text)),
  CONSTRAINT usage_hours_endpoint_id_check CHECK ((endpoint_id <> ''::text)),
  CONSTRAINT usage_hours_gpu_ms_check CHECK ((gpu_ms >= 0)),
  CONSTRAINT usage_hours_hour_check CHECK ((hour = date_trunc('hour'::text, hour, 'UTC'::text))),
  CONSTRAINT usage_hours_paused_gpu_ms_check CHECK ((paused_gpu_ms >= 0)),
  CONSTRAINT usage_hours_paused_worker_ms_check CHECK ((paused_worker_ms >= 0)),
  CONSTRAINT usage_hours_worker_ms_check CHECK ((worker_ms >= 0))
);
CREATE INDEX usage_hours_of_endpoint ON public.usage_hours USING btree (account_id, endpoint_id, hour);
CREATE INDEX usage_hours_oldest ON public.usage_hours USING btree (hour);

CREATE TABLE webhook_secrets (
  endpoint_id text NOT NULL,
  ordinal integer NOT NULL,
  sealed_secret text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  expires_at timestamp with time zone,
  CONSTRAINT webhook_secrets_pkey PRIMARY KEY (endpoint_id, ordinal),
  CONSTRAINT webhook_secrets_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES endpoints(id) ON DELETE CASCADE,
  CONSTRAINT webhook_secrets_life CHECK ((expires_at > created_at)),
  CONSTRAINT webhook_secrets_ordinal_check CHECK ((ordinal >= 1)),
  CONSTRAINT webhook_secrets_sealed_secret_check CHECK ((sealed_secret ~ '^v1\.[0-9a-f]{8}\.[A-Za-z0-9_-]+$'::text))
);
CREATE UNIQUE INDEX webhook_secrets_present ON public.webhook_secrets USING btree (endpoint_id) WHERE (expires_at IS NULL);

CREATE TABLE worker_runs (
  id bigint NOT NULL,
  worker_id text NOT NULL,
  account_id text NOT NULL,
  endpoint_id text NOT NULL,
  host_id text NOT NULL,
  gpu_type_id text,
  gpu_count integer NOT NULL,
  use text NOT NULL,
  counted_until timestamp with time zone NOT NULL,
  until timestamp with time zone,
  CONSTRAINT worker_runs_pkey PRIMARY KEY (id),
  CONSTRAINT worker_runs_account_id_check CHECK ((account_id <> ''::text)),
  CONSTRAINT worker_runs_check CHECK ((until >= counted_until)),
  CONSTRAINT worker_runs_endpoint_id_check CHECK ((endpoint_id <> ''::text)),
  CONSTRAINT worker_runs_gpu_count_check CHECK ((gpu_count >= 0)),
  CONSTRAINT worker_runs_gpu_type_id_check CHECK ((gpu_type_id <> ''::text)),
  CONSTRAINT worker_runs_host_id_check CHECK ((host_id <> ''::text)),
  CONSTRAINT worker_runs_use_check CHECK ((use = ANY (ARRAY['running'::text, 'paused'::text]))),
  CONSTRAINT worker_runs_worker_id_check CHECK ((worker_id <> ''::text))
);
CREATE INDEX worker_runs_ended ON public.worker_runs USING btree (account_id, counted_until) WHERE (until IS NOT NULL);
CREATE INDEX worker_runs_of_host ON public.worker_runs USING btree (host_id) WHERE (until IS NULL);
CREATE UNIQUE INDEX worker_runs_open ON public.worker_runs USING btree (worker_id) WHERE (until IS NULL);
CREATE INDEX worker_runs_uncounted ON public.worker_runs USING btree (counted_until, id);

CREATE TABLE workers (
  id text NOT NULL,
  endpoint_id text NOT NULL,
  host_id text NOT NULL,
  release integer NOT NULL,
  intent text NOT NULL,
  resources jsonb NOT NULL,
  restarts integer NOT NULL DEFAULT 0,
  observed jsonb,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  leaves_after_idle_ms integer,
  failed_on text[] NOT NULL DEFAULT '{}'::text[],
  stays_because text,
  volume_id text,
  CONSTRAINT workers_pkey PRIMARY KEY (id),
  CONSTRAINT workers_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES endpoints(id),
  CONSTRAINT workers_host_id_fkey FOREIGN KEY (host_id) REFERENCES hosts(id) ON DELETE CASCADE,
  CONSTRAINT workers_id CHECK ((id <> ''::text)),
  CONSTRAINT workers_idle_leave CHECK ((leaves_after_idle_ms >= 0)),
  CONSTRAINT workers_intent_check CHECK ((intent = ANY (ARRAY['running'::text, 'paused'::text, 'drained'::text]))),
  CONSTRAINT workers_observed_check CHECK ((jsonb_typeof(observed) = 'object'::text)),
  CONSTRAINT workers_of_release FOREIGN KEY (endpoint_id, release) REFERENCES releases(endpoint_id, release),
  CONSTRAINT workers_own_observation CHECK ((((observed ->> 'workerId'::text) = id) IS NOT FALSE)),
  CONSTRAINT workers_phase CHECK (((observed IS NULL) OR (((observed ->> 'phase'::text) = ANY (ARRAY['preparing'::text, 'starting'::text, 'idle'::text, 'busy'::text, 'paused'::text, 'draining'::text, 'waiting'::text, 'unhealthy'::text, 'removed'::text])) IS TRUE))),
  CONSTRAINT workers_release_check CHECK ((release >= 1)),
  CONSTRAINT workers_resources_check CHECK ((jsonb_typeof(resources) = 'object'::text)),
  CONSTRAINT workers_resources_whole CHECK (((resources IS NULL) OR ((resources @@ 'strict ((($."vcpus" >= 0 && $."memoryBytes" >= 0) && $."diskBytes" >= 0) && $."gpuCount" >= 0)'::jsonpath) IS TRUE))),
  CONSTRAINT workers_restarts_check CHECK ((restarts >= 0)),
  CONSTRAINT workers_stay CHECK ((stays_because <> ''::text)),
  CONSTRAINT workers_volume FOREIGN KEY (volume_id) REFERENCES network_volumes(id)
);
CREATE INDEX workers_of_endpoint ON public.workers USING btree (endpoint_id, created_at);
CREATE INDEX workers_of_host ON public.workers USING btree (host_id);
CREATE INDEX workers_of_volume ON public.workers USING btree (volume_id) WHERE (volume_id IS NOT NULL);

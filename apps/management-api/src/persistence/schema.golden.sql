CREATE TABLE accounts (
  id text NOT NULL,
  name text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  deleted_at timestamp with time zone,
  CONSTRAINT accounts_pkey PRIMARY KEY (id),
  CONSTRAINT accounts_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255)))
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
  CONSTRAINT api_keys_hash_check CHECK ((hash ~ '^[0-9a-f]{64}$'::text)),
  CONSTRAINT api_keys_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
  CONSTRAINT api_keys_prefix_key UNIQUE (prefix),
  CONSTRAINT api_keys_scopes_check CHECK ((cardinality(scopes) > 0))
);
CREATE INDEX api_keys_of_account ON public.api_keys USING btree (account_id, created_at);

CREATE TABLE endpoint_scaling (
  endpoint_id text NOT NULL,
  desired integer NOT NULL,
  reason text NOT NULL,
  detail text NOT NULL,
  waiting jsonb NOT NULL DEFAULT '[]'::jsonb,
  decided_at timestamp with time zone NOT NULL,
  CONSTRAINT endpoint_scaling_pkey PRIMARY KEY (endpoint_id),
  CONSTRAINT endpoint_scaling_desired_check CHECK ((desired >= 0)),
  CONSTRAINT endpoint_scaling_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES endpoints(id) ON DELETE CASCADE,
  CONSTRAINT endpoint_scaling_waiting_check CHECK ((jsonb_typeof(waiting) = 'array'::text))
);
CREATE INDEX endpoint_scaling_wanted ON public.endpoint_scaling USING btree (endpoint_id) WHERE (desired > 0);

CREATE TABLE endpoints (
  id text NOT NULL,
  account_id text NOT NULL,
  spec jsonb NOT NULL,
  release integer NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  deleted_at timestamp with time zone,
  CONSTRAINT endpoints_pkey PRIMARY KEY (id),
  CONSTRAINT endpoints_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
  CONSTRAINT endpoints_release_check CHECK ((release >= 1)),
  CONSTRAINT endpoints_spec_check CHECK ((jsonb_typeof(spec) = 'object'::text))
);
CREATE INDEX endpoints_deleted ON public.endpoints USING btree (id) WHERE (deleted_at IS NOT NULL);
CREATE INDEX endpoints_of_account ON public.endpoints USING btree (account_id, created_at) WHERE (deleted_at IS NULL);
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
  CONSTRAINT hosts_intent_check CHECK ((intent = ANY (ARRAY['ready'::text, 'cordoned'::text, 'draining'::text]))),
  CONSTRAINT hosts_inventory_check CHECK ((jsonb_typeof(inventory) = 'object'::text)),
  CONSTRAINT hosts_labels_check CHECK ((jsonb_typeof(labels) = 'object'::text)),
  CONSTRAINT hosts_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
  CONSTRAINT hosts_report_sequence_check CHECK ((report_sequence >= 0)),
  CONSTRAINT hosts_secret_hash_check CHECK ((secret_hash ~ '^[0-9a-f]{64}$'::text))
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
  CONSTRAINT leader_leases_term_check CHECK ((term >= 1))
);

CREATE TABLE releases (
  endpoint_id text NOT NULL,
  release integer NOT NULL,
  container jsonb NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT releases_pkey PRIMARY KEY (endpoint_id, release),
  CONSTRAINT releases_container_check CHECK ((jsonb_typeof(container) = 'object'::text)),
  CONSTRAINT releases_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES endpoints(id) ON DELETE CASCADE,
  CONSTRAINT releases_release_check CHECK ((release >= 1))
);

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
  CONSTRAINT workers_pkey PRIMARY KEY (id),
  CONSTRAINT workers_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES endpoints(id),
  CONSTRAINT workers_host_id_fkey FOREIGN KEY (host_id) REFERENCES hosts(id) ON DELETE CASCADE,
  CONSTRAINT workers_intent_check CHECK ((intent = ANY (ARRAY['running'::text, 'drained'::text]))),
  CONSTRAINT workers_observed_check CHECK ((jsonb_typeof(observed) = 'object'::text)),
  CONSTRAINT workers_release_check CHECK ((release >= 1)),
  CONSTRAINT workers_resources_check CHECK ((jsonb_typeof(resources) = 'object'::text)),
  CONSTRAINT workers_restarts_check CHECK ((restarts >= 0))
);
CREATE INDEX workers_of_endpoint ON public.workers USING btree (endpoint_id, created_at);
CREATE INDEX workers_of_host ON public.workers USING btree (host_id);

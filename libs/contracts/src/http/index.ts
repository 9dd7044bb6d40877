export { TextListField } from './fields/list-field.js';
export { TextMapField } from './fields/map-field.js';
export { NestedField, NestedListField } from './fields/nested-field.js';
export { IntegerField, NumberField } from './fields/number-field.js';
export { QueryBooleanField, QueryIntegerField, QueryListField } from './fields/query-field.js';
export { ChoiceField, NameField, TextField } from './fields/text-field.js';
export { JOB_API_SCHEMAS } from './jobs/job-api-schemas.js';
export {
  REQUESTS_LIMIT_DEFAULT,
  REQUESTS_LIMIT_MAX,
  RequestsQueryDto,
  StatusQueryDto,
  WaitQueryDto,
} from './jobs/job-query.dto.js';
export type { Schema, Schemas } from './json-schema/json-schema.js';
export { listSchema, nullableSchema, objectWith, textSchema } from './json-schema/schema-parts.js';
export { isPlainObject } from './reading/dto-shape.js';
export { readDto } from './reading/read-dto.js';
export {
  AccountBody,
  AccountListBody,
  AccountWithLimitsBody,
  CreateAccountDto,
  NewAccountBody,
  UpdateAccountDto,
} from './management/accounts/account.dto.js';
export { ApiKeyBody, ApiKeyListBody, CreateApiKeyDto, NewApiKeyBody } from './management/api-keys/api-key.dto.js';
export { AUDIT_LIMIT_DEFAULT, AuditEntryBody, AuditListBody, AuditQueryDto } from './management/audit/audit.dto.js';
export { CpuQueryDto } from './management/catalog/cpu-query.dto.js';
export { CpuTypeBody, CpuTypeListBody } from './management/catalog/cpu-type.body.js';
export { DataCenterIncludeDto, DataCenterQueryDto } from './management/catalog/data-center-query.dto.js';
export { DataCenterBody, DataCenterListBody } from './management/catalog/data-center.body.js';
export { GpuQueryDto } from './management/catalog/gpu-query.dto.js';
export { GpuTypeBody, GpuTypeListBody } from './management/catalog/gpu-type.body.js';
export {
  ClusterBody,
  ClusterListBody,
  ClusterNetworkBody,
  ClusterPrimaryBody,
} from './management/clusters/cluster.body.js';
export { CpuRequestDto, GpuRequestDto, UpdateGpuRequestDto } from './management/endpoints/compute.dto.js';
export { CreateEndpointDto } from './management/endpoints/create-endpoint.dto.js';
export { EndpointBody, EndpointListBody } from './management/endpoints/endpoint.body.js';
export { type ScalingDto } from './management/endpoints/scaling.dto.js';
export { UpdateEndpointDto } from './management/endpoints/update-endpoint.dto.js';
export { HostBody, HostDetailBody, HostListBody, HostWorkerBody, JoinTokenBody } from './management/hosts/host.body.js';
export {
  CreateJoinTokenDto,
  DATA_CENTER_DEFAULT,
  type HostAction,
  HostActionDto,
  TOKEN_LIFE_DEFAULT_SECONDS,
} from './management/hosts/host.dto.js';
export {
  CreateNetworkVolumeDto,
  NetworkVolumeBody,
  NetworkVolumeListBody,
  UpdateNetworkVolumeDto,
} from './management/network-volumes/network-volume.dto.js';
export { PodQueryDto } from './management/pods/pod-query.dto.js';
export { PodRuntimeBody } from './management/pods/pod-runtime.body.js';
export { ClusterPodListBody, PodBody, PodListBody, PodMountsBody, SshAddressBody } from './management/pods/pod.body.js';
export { CreateRegistryDto, RegistryBody, RegistryListBody } from './management/registries/registry.dto.js';
export { ReleaseBody, ReleaseListBody } from './management/releases/release.body.js';
export { ENV_BYTES_MAX, ENV_KEYS_MAX } from './management/templates/container-fields.js';
export { TemplateBody, TemplateListBody } from './management/templates/template.body.js';
export { CreateTemplateDto, TemplateMountsDto, UpdateTemplateDto } from './management/templates/template.dto.js';
export { USAGE_LIMIT_DEFAULT, UsageBody, UsageListBody, UsageQueryDto } from './management/usage/usage.dto.js';
export { CreateV1EndpointDto, V1_DEFAULTS } from './management/v1-endpoints/create-v1-endpoint.dto.js';
export { V1EndpointBody } from './management/v1-endpoints/v1-endpoint.body.js';
export { WebhookSecretBody, WebhookSecretListBody } from './management/webhook-secrets/webhook-secret.body.js';
export {
  SCALING_LIMIT_DEFAULT,
  ScalingBody,
  ScalingHistoryEntryBody,
  ScalingQueryDto,
} from './management/workers/scaling.body.js';
export { EndpointLogsQueryDto, LOG_TAIL_DEFAULT, WorkerLogsQueryDto } from './management/worker-logs/worker-log.dto.js';
export { WorkerBody, WorkerListBody, WorkerSummaryBody } from './management/workers/worker.body.js';
export { WorkerActionDto } from './management/workers/worker.dto.js';

import { ENV_BYTES_MAX, ENV_KEYS_MAX } from '@berth/contracts/http';
import {
  PlatformError,
  applyTemplate,
  checkVolumePlaces,
  describeFailures,
  type AppliedTemplate,
  type EndpointSpec,
  type ErrorCode,
  type FieldFailure,
  type TemplateOverrides,
  type TemplateSpec,
  type VolumePlace,
} from '@berth/domain';
import type { Caller } from '@berth/http';
import { type TemplatesService } from '../templates/index.js';
import type { ReferencesStore } from './references.store.js';
import { refuseConflicts } from './refuse-conflicts.js';

export interface EndpointReferencesOptions {
  readonly templates: Pick<TemplatesService, 'resolvable'>;
  readonly records: ReferencesStore;
}

/** The part of a request that refers to templates, registries and volumes. */
export interface ReferringRequest {
  readonly templateId: string | undefined;
  readonly overrides: TemplateOverrides;
}

/** A reference that leads nowhere. */
interface Dangling extends FieldFailure {
  readonly code: ErrorCode;
}

type TemplateUse = Pick<TemplateSpec, 'allowedCudaVersions' | 'container'>;

/** The container where nothing says otherwise. */
const NO_TEMPLATE: TemplateUse = {
  container: { image: '', args: '', diskGb: null, env: {}, ports: [], registryId: null },
  allowedCudaVersions: [],
};

/** Looks up what endpoints refer to: the last group of checks (API decisions 1.3). */
export class EndpointReferences {
  readonly #options: EndpointReferencesOptions;

  constructor(options: EndpointReferencesOptions) {
    this.#options = options;
  }

  /**
   * The request's container, with its template where it names one. Everything that is not there is in one answer.
   *
   * @param places of the endpoint as it will be; null where the request says nothing of them
   * @throws PlatformError `template-not-found`, `template-not-serverless`, `registry-not-found`,
   *   `network-volume-not-found`; `rule-conflict` for volumes where no worker can be, and an environment too large
   */
  async resolve(
    caller: Caller,
    request: ReferringRequest,
    places: Pick<EndpointSpec, 'dataCenterIds' | 'networkVolumeIds'> | null,
  ): Promise<AppliedTemplate> {
    const { dataCenterIds, networkVolumeIds } = places ?? { dataCenterIds: [], networkVolumeIds: [] };
    const template = await this.#template(caller, request.templateId);
    const registry = await this.#registry(caller, request.overrides.registryId);
    const volumes = await this.#options.records.placesOf(caller.accountId, networkVolumeIds);
    refuseDangling([...('code' in template ? [template] : []), ...registry, ...missingOf(networkVolumeIds, volumes)]);
    const applied = applyTemplate('code' in template ? NO_TEMPLATE : template, request.overrides);
    refuseConflicts([...checkVolumePlaces(dataCenterIds, volumes), ...checkEnv(applied.container.env)]);
    return applied;
  }

  async #template(caller: Caller, id: string | undefined): Promise<TemplateUse | Dangling> {
    if (id === undefined) return NO_TEMPLATE;
    try {
      return (await this.#options.templates.resolvable(caller, id)).spec;
    } catch (error) {
      if (!(error instanceof PlatformError) || !TEMPLATE_CODES.has(error.code)) throw error;
      return { code: error.code, path: '$.templateId', reason: withoutStop(error.message) };
    }
  }

  async #registry(caller: Caller, id: string | null | undefined): Promise<readonly Dangling[]> {
    if (id === undefined || id === null) return [];
    if (await this.#options.records.hasRegistry(caller.accountId, id)) return [];
    return [{ code: 'registry-not-found', path: '$.registry', reason: `there is no container registry '${id}'` }];
  }
}

const TEMPLATE_CODES: ReadonlySet<ErrorCode> = new Set(['template-not-found', 'template-not-serverless']);

const missingOf = (ids: readonly string[], volumes: readonly VolumePlace[]): readonly Dangling[] =>
  ids.flatMap((id, index) =>
    volumes.some((volume) => volume.id === id)
      ? []
      : [
          {
            code: 'network-volume-not-found' as const,
            path: `$.networkVolumes[${index}]`,
            reason: `there is no network volume '${id}'`,
          },
        ],
  );

/** The first decides what kind of problem it is. */
function refuseDangling(dangling: readonly Dangling[]): void {
  const [first] = dangling;
  if (first === undefined) return;
  const errors = describeFailures(dangling);
  throw new PlatformError(first.code, `The request refers to what it cannot have: ${errors[0] ?? ''}.`, { errors });
}

/** Each part alone is within the bounds; with a template's they may not be. */
function checkEnv(env: Readonly<Record<string, string>>): readonly FieldFailure[] {
  const entries = Object.entries(env);
  const bytes = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  if (entries.length <= ENV_KEYS_MAX && bytes <= ENV_BYTES_MAX) return [];
  const size = `${entries.length} variables and ${bytes} bytes`;
  const reason = `has with the template's ${size}, but may have ${ENV_KEYS_MAX} and ${ENV_BYTES_MAX}`;
  return [{ path: '$.env', reason }];
}

const withoutStop = (sentence: string): string => sentence.replace(/\.$/, '');

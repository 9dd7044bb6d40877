import type { TemplateBody, CreateTemplateDto, TemplateMountsDto, UpdateTemplateDto } from '@berth/contracts/http';
import type { Template, TemplateSpec } from '@berth/domain';

type Changes = Omit<UpdateTemplateDto, 'name' | 'image'>;

/** The fields that a create may leave out (wire contract 5.2). */
const DEFAULTS: Omit<TemplateSpec, 'name'> = {
  container: { image: '', args: '', diskGb: null, env: {}, ports: [], registryId: null },
  persistentMount: null,
  isServerless: false,
  isPublic: false,
  source: 'community',
  category: 'NVIDIA',
  startsSsh: true,
  startsJupyter: true,
  allowedCudaVersions: [],
};

export const newTemplateSpec = (dto: CreateTemplateDto): TemplateSpec =>
  changedTemplateSpec({ ...DEFAULTS, name: dto.name }, dto);

/** The spec with what the request says over it. */
export const changedTemplateSpec = (spec: TemplateSpec, dto: UpdateTemplateDto): TemplateSpec => ({
  name: dto.name ?? spec.name,
  container: changedContainer(spec.container, dto),
  ...changedRest(spec, dto),
});

const changedContainer = (container: TemplateSpec['container'], dto: UpdateTemplateDto): TemplateSpec['container'] => ({
  image: dto.image ?? container.image,
  args: dto.args ?? container.args,
  diskGb: dto.disk ?? container.diskGb,
  env: dto.env ?? container.env,
  ports: dto.ports ?? container.ports,
  registryId: dto.registry === undefined ? container.registryId : dto.registry,
});

const changedRest = (spec: TemplateSpec, dto: Changes): Omit<TemplateSpec, 'name' | 'container'> => ({
  persistentMount: dto.mounts === undefined ? spec.persistentMount : toPersistentMount(dto.mounts),
  isServerless: dto.serverless ?? spec.isServerless,
  isPublic: dto.public ?? spec.isPublic,
  source: dto.source ?? spec.source,
  category: dto.category ?? spec.category,
  startsSsh: dto.startSsh ?? spec.startsSsh,
  startsJupyter: dto.startJupyter ?? spec.startsJupyter,
  allowedCudaVersions: dto.allowedCudaVersions ?? spec.allowedCudaVersions,
});

const toPersistentMount = ({ persistent }: TemplateMountsDto): TemplateSpec['persistentMount'] =>
  persistent === undefined ? null : { sizeGb: persistent.size, path: persistent.path };

export const toTemplateBody = ({ createdAtMs, id, spec }: Template): TemplateBody => ({
  id,
  ...toTemplateFields(spec),
  createdAt: new Date(createdAtMs).toISOString(),
});

/** The fields of a template that can be changed, in the words of the interface. */
export const toTemplateFields = (spec: TemplateSpec): Omit<TemplateBody, 'id' | 'createdAt'> => ({
  name: spec.name,
  image: spec.container.image,
  args: spec.container.args,
  ...(spec.container.diskGb === null ? {} : { disk: spec.container.diskGb }),
  mounts:
    spec.persistentMount === null
      ? {}
      : { persistent: { size: spec.persistentMount.sizeGb, path: spec.persistentMount.path } },
  ports: spec.container.ports,
  env: spec.container.env,
  registry: spec.container.registryId,
  serverless: spec.isServerless,
  public: spec.isPublic,
  category: spec.category,
  source: spec.source,
  startSsh: spec.startsSsh,
  startJupyter: spec.startsJupyter,
  allowedCudaVersions: spec.allowedCudaVersions,
});

/** Images under this name are built on the host; no registry has them, and asking one would leak their names. */
export const LOCAL_PREFIX = 'local/';

const DEFAULT_REGISTRY = 'https://index.docker.io/v1/';

/** Without a tag the engine would pull every tag of the name. */
export const withTag = (image: string): string => (/[:@][^/]*$/.test(image) ? image : `${image}:latest`);

/** The name without its tag and digest. */
export const repositoryOf = (image: string): string => image.replace(/@.*$/, '').replace(/:[^/:]*$/, '');

/** The one of all names that an engine takes for the same: without the default registry, and without its folder of official images. */
export const shortName = (image: string): string =>
  image.replace(/^(?:index\.)?docker\.io\//, '').replace(/^library\/(?=[^/]+$)/, '');

/** The very bytes, whatever the tag points at by now. */
export const byDigest = (image: string, digest: string): string => `${repositoryOf(image)}@${digest}`;

/** The digest that a name itself asks for; null where it asks for a tag. */
export const digestIn = (image: string): string | null => /@(.*)$/.exec(image)?.[1] ?? null;

/** The registry that an image's name begins with; a first part without dot, colon or `localhost` is a folder of the default one. */
export function registryOf(image: string): string {
  const [first = ''] = image.split('/');
  const isRegistry = image.includes('/') && (/[.:]/.test(first) || first === 'localhost');
  return isRegistry ? first : DEFAULT_REGISTRY;
}

/** What engines and registries take for a name (the grammar of references of the distribution specification). */
const NAME_CHARACTERS_MAX = 255;
const REGISTRY = /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.(?!$)|(?=:|$)))+(?::\d{1,5})?$/;
const FOLDER = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^(?:sha256:[a-f0-9]{64}|sha512:[a-f0-9]{128})$/;

/**
 * Whether it can be the name of an image. Of one that cannot the engine must not even be asked: it has its names in the
 * paths of its interface.
 */
export function isImageName(image: string): boolean {
  const [name = '', ...digests] = image.split('@');
  const [, repository = '', tag] = /^(.*?)(?::([^/:]*))?$/.exec(name) ?? [];
  const areWhole = digests.length <= 1 && digests.every((digest) => DIGEST.test(digest));
  const isTagged = tag === undefined || TAG.test(tag);
  return areWhole && isTagged && isRepository(repository);
}

function isRepository(repository: string): boolean {
  if (repository.length > NAME_CHARACTERS_MAX) return false;
  const [first = '', ...rest] = repository.split('/');
  const hasRegistry = rest.length > 0 && REGISTRY.test(first);
  return (hasRegistry ? rest : [first, ...rest]).every((folder) => FOLDER.test(folder));
}

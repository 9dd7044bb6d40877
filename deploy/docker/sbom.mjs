/**
 * Renders a list of packages as CycloneDX 1.5 (ECMA-424). Not by `npm sbom`, which leaves out peers of packages in workspaces
 * and names what an app of several does not have.
 */
const SHA512 = 'sha512-';

/** `@scope/name` keeps its slash in a package URL, and only its `@` is encoded. */
const purlOf = ({ name, version }) => `pkg:npm/${name.replace('@', '%40')}@${version}`;

const licencesOf = ({ license, licenses }) => {
  const said = license ?? licenses;
  if (typeof said === 'string') return [{ expression: said }];
  return [said ?? []].flat().map(({ type }) => ({ license: { name: type } }));
};

/**
 * @param app the package.json that the image is made for
 * @param packages of each the package.json, and from the lock file what it must hash to
 */
export function renderSbom(app, packages) {
  const components = packages
    .map(({ described, integrity }) => ({
      type: 'library',
      'bom-ref': purlOf(described),
      name: described.name,
      version: described.version,
      purl: purlOf(described),
      licenses: licencesOf(described),
      ...(integrity?.startsWith(SHA512) && {
        hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.slice(SHA512.length), 'base64').toString('hex') }],
      }),
    }))
    .toSorted((one, other) => (one.purl < other.purl ? -1 : 1));
  const component = { type: 'application', 'bom-ref': purlOf(app), name: app.name, version: app.version };
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { ...component, licenses: licencesOf(app) } },
    components,
  };
}

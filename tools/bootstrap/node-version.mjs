/** `v20.11.0` and `>=20.11` as numbers, what is missing as 0. */
const numbersOf = (version) => (version.match(/\d+/g) || []).concat(0, 0).slice(0, 2).map(Number);

/**
 * Says that a Node is older than `engines` wants it, or nothing (null). Read by any Node: see `bootstrap.mjs`.
 *
 * @param {string} version as Node says it: `v20.11.0`
 * @param {string} range of `engines`: `>=20.11`
 */
export function whyTooOld(version, range) {
  const [major, minor] = numbersOf(version);
  const [wantedMajor, wantedMinor] = numbersOf(range);
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return null;
  const wanted = `${wantedMajor}.${wantedMinor}`;
  return `Node.js ${wanted} or newer is needed to begin; this is ${version}. Install a newer one and try again.`;
}

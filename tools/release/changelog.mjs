const UNRELEASED = '## Unreleased';
const NUMBERS = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/;

/** Whether the changelog tells of a release of this version. */
export const wasReleased = (text, version) => text.includes(`\n## ${version} (`);

/** Why this cannot be the version after the present one, or the present one where that was not released yet; null: it can. */
export function faultOfVersion(wanted, present, isReleased) {
  const [next, last] = [NUMBERS.exec(wanted), NUMBERS.exec(present)];
  if (next === null) return `A version is three numbers, such as 0.2.0, and not '${wanted}'.`;
  if (wanted === present && !isReleased) return null;
  const at = [1, 2, 3].find((part) => next[part] !== last?.[part]);
  const isLater = at !== undefined && Number(next[at]) > Number(last?.[at] ?? -1);
  return isLater ? null : `${wanted} is not later than ${present}.`;
}

/** The changelog with what is unreleased under the version and its day; null: there is nothing of it. */
export function changelogOf(text, version, day) {
  const [before, after] = text.split(`${UNRELEASED}\n`);
  const [said = ''] = (after ?? '').split(/^## /m);
  if (said.trim() === '') return null;
  return `${before}${UNRELEASED}\n\n## ${version} (${day})\n${after}`;
}

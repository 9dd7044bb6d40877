/** What a finding is about, in the order in which they are told. */
export const AREAS = [
  ...(['database', 'migrations', 'brokers', 'streams', 'routers', 'processes'] as const),
  ...(['hosts', 'endpoints', 'clocks', 'certificates'] as const),
] as const;

type Area = (typeof AREAS)[number];

/** What was found of one thing. */
export interface Finding {
  readonly area: Area;
  /** `left-out`: a setting that it needs is not there; that is no failure. */
  readonly state: 'well' | 'wrong' | 'left-out';
  /** What is so, in words for people. It ends without a full stop. */
  readonly says: string;
  /** What to do about it; null where nothing is. */
  readonly mend: string | null;
}

export const well = (area: Area, says: string): Finding => ({ area, state: 'well', says, mend: null });

export const wrong = (area: Area, says: string, mend: string): Finding => ({ area, state: 'wrong', says, mend });

/** Of settings that no file of an installation has. */
const MENDS: Readonly<Record<string, string>> = {
  BERTH_API_KEY: 'set BERTH_API_KEY to a key in use, with the scope admin; no file has it',
};

/** @param setting whose value would let it be looked at */
export const leftOut = (area: Area, setting: string): Finding => ({
  area,
  state: 'left-out',
  says: `not looked at: ${setting} is not set`,
  mend: MENDS[setting] ?? `set ${setting}; env/operator.env of the installation has what \`berth init\` knows`,
});

const NAMES_MAX = 4;

/** Names with commas between, and how many more there are. */
export function someOf(names: readonly string[]): string {
  const more = names.length - NAMES_MAX;
  return more <= 0 ? names.join(', ') : `${names.slice(0, NAMES_MAX).join(', ')} and ${String(more)} more`;
}

/** Whose machine it is: the operator's own (`SECURE`), or somebody else's (`COMMUNITY`). Every host is the operator's. */
export const CLOUDS = ['SECURE', 'COMMUNITY'] as const;

export type Cloud = (typeof CLOUDS)[number];

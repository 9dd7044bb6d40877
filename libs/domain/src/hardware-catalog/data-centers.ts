/** Continents as the catalog names them. */
export const REGIONS = [
  'NORTH_AMERICA',
  'SOUTH_AMERICA',
  'EUROPE',
  'ASIA',
  'MIDDLE_EAST',
  'AFRICA',
  'OCEANIA',
  'ANTARCTICA',
  'UNKNOWN',
] as const;
export type Region = (typeof REGIONS)[number];

/** Tiers of storage that a network volume may have. */
export const NETWORK_VOLUME_TYPES = ['STANDARD', 'HIGH_PERFORMANCE'] as const;
export type NetworkVolumeType = (typeof NETWORK_VOLUME_TYPES)[number];

/** Standards that somebody may have certified a data center for. */
export const COMPLIANCE = [
  'GDPR',
  'ISO_IEC_27001',
  'ISO_14001',
  'PCI_DSS',
  'HITRUST',
  'SOC_1_TYPE_2',
  'SOC_2_TYPE_2',
  'SOC_3_TYPE_2',
  'ITAR',
  'FISMA_HIGH',
  'HIPAA',
  'RENEWABLE',
] as const;
export type Compliance = (typeof COMPLIANCE)[number];

/** A data center of the catalog. */
export interface DataCenter {
  readonly id: string;
  readonly name: string;
  readonly region: Region;
  /** ISO 3166-1 alpha-2; null for an operator's own id, which says nothing of a country. */
  readonly countryCode: string | null;
  /** Whether pods reach those of other data centers over a network of their own. */
  readonly hasGlobalNetwork: boolean;
  readonly networkVolumeTypes: readonly NetworkVolumeType[];
  readonly compliance: readonly Compliance[];
}

type Row = readonly [id: string, countryCode: string];

/** The published ids (wire contract 6.7). Nothing else of them is published, so the id is the name too. */
const ROWS: readonly Row[] = [
  ['EU-RO-1', 'RO'],
  ['CA-MTL-1', 'CA'],
  ['CA-MTL-2', 'CA'],
  ['CA-MTL-3', 'CA'],
  ['EU-SE-1', 'SE'],
  ['US-IL-1', 'US'],
  ['EUR-IS-1', 'IS'],
  ['EUR-IS-2', 'IS'],
  ['EUR-IS-3', 'IS'],
  ['EU-CZ-1', 'CZ'],
  ['US-TX-1', 'US'],
  ['US-TX-3', 'US'],
  ['US-TX-4', 'US'],
  ['US-KS-2', 'US'],
  ['US-KS-3', 'US'],
  ['US-GA-1', 'US'],
  ['US-GA-2', 'US'],
  ['US-WA-1', 'US'],
  ['EU-NL-1', 'NL'],
  ['US-CA-2', 'US'],
  ['US-NC-1', 'US'],
  ['OC-AU-1', 'AU'],
  ['US-DE-1', 'US'],
  ['AP-JP-1', 'JP'],
  ['EUR-NO-1', 'NO'],
  ['EU-FR-1', 'FR'],
  ['US-MO-1', 'US'],
  ['US-MO-2', 'US'],
  ['US-NC-2', 'US'],
  ['US-NE-1', 'US'],
];

/** By the first part of an id. */
const REGION_OF_PREFIX: Readonly<Record<string, Region>> = {
  EU: 'EUROPE',
  EUR: 'EUROPE',
  US: 'NORTH_AMERICA',
  CA: 'NORTH_AMERICA',
  AP: 'ASIA',
  OC: 'OCEANIA',
};

/** In the order of the catalog's answers. */
export const SHIPPED_DATA_CENTERS: readonly DataCenter[] = ROWS.map(([id, countryCode]) => ({
  ...ownDataCenter(id),
  region: REGION_OF_PREFIX[id.split('-')[0] ?? ''] ?? 'UNKNOWN',
  countryCode,
}));

/**
 * A data center of which only the id is known, with the properties that every one has: volumes of both types, no network
 * between data centers, and no certificate.
 */
export function ownDataCenter(id: string): DataCenter {
  return {
    ...{ id, name: id, region: 'UNKNOWN', countryCode: null, hasGlobalNetwork: false, compliance: [] },
    networkVolumeTypes: NETWORK_VOLUME_TYPES,
  };
}

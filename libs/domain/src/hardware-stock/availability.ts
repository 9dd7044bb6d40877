/** How easily something can be had now. */
export const AVAILABILITY_LEVELS = ['NONE', 'LOW', 'MEDIUM', 'HIGH'] as const;

export type AvailabilityLevel = (typeof AVAILABILITY_LEVELS)[number];

/** As many as an endpoint may have unless it says otherwise: from here on it is not the stock that limits it. */
const MEDIUM_FROM_UNITS = 3;
const HIGH_FROM_UNITS = 10;

/** @param units how many more workers of the kind the hosts have room for */
export function availabilityOf(units: number): AvailabilityLevel {
  if (units <= 0) return 'NONE';
  if (units < MEDIUM_FROM_UNITS) return 'LOW';
  return units < HIGH_FROM_UNITS ? 'MEDIUM' : 'HIGH';
}

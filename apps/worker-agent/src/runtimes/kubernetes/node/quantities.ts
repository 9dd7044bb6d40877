const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};
const QUANTITY = /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)([numkKMGTPE]?i?)$/;

/** A quantity as Kubernetes writes it (`1930m`, `24632896Ki`); 0 for what is none. */
export function parseQuantity(text: string | undefined): number {
  const [, number = '', unit = ''] = QUANTITY.exec(text ?? '') ?? [];
  const value = Number(number) * (UNITS[unit] ?? Number.NaN);
  return Number.isFinite(value) ? value : 0;
}

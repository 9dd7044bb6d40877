/** One KiB, in bytes. */
export const KIB = 1_024;
/** One MiB, in bytes. */
export const MIB = 1_024 ** 2;
/** One GiB, in bytes. */
export const GIB = 1_024 ** 3;

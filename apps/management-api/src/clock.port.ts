/** Injection token of the process's `Clock`. */
export const CLOCK = Symbol('Clock');

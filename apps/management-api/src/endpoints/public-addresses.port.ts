/** Injection token of the `PublicAddresses` under which this installation is reached. */
export const PUBLIC_ADDRESSES = Symbol('PublicAddresses');

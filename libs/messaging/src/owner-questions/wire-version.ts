import { WIRE_VERSION, type Shape } from '@berth/contracts';

/** Another version is said so by its place, and the rest of its message means nothing here. */
export const wireVersion: Shape = (value, path) =>
  value === WIRE_VERSION ? null : `${path} is not version ${WIRE_VERSION}`;

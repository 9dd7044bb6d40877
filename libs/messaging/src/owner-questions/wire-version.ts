import { WIRE_VERSION } from '@berth/contracts';
import type { Shape } from '@berth/domain/shape';

/** Another version is said so by its place, and the rest of its message means nothing here. */
export const wireVersion: Shape = (value, path) =>
  value === WIRE_VERSION ? null : `${path} is not version ${WIRE_VERSION}`;

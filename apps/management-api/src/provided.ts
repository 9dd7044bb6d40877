import type { Provider } from '@nestjs/common';

/** A service that is made already, under its own name. */
export const provided = <Service extends object>(
  provide: abstract new (...options: never[]) => Service,
  useValue: Service,
): Provider => ({ provide, useValue });

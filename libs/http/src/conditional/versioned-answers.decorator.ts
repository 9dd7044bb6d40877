import { UseInterceptors } from '@nestjs/common';
import { VersionedInterceptor } from './versioned.interceptor.js';

/** The controller has handlers that return `Versioned`. Others do without: an interceptor costs each of their requests. */
export const VersionedAnswers = (): ClassDecorator => UseInterceptors(VersionedInterceptor);

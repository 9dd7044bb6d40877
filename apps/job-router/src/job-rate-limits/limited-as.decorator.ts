import { SetMetadata, type CustomDecorator } from '@nestjs/common';
import type { JobOperation as Operation } from '@berth/domain';

export const OPERATION_METADATA = 'berth:job-operation';

/**
 * The operation under whose limits the handler's requests count. They are admitted after the key, the scope and the
 * endpoint were checked and before the body is looked at; they are in flight until they are answered or their caller
 * has gone. The path must name the endpoint as `:endpointId`. A handler without it does not start.
 */
export const LimitedAs = (operation: Operation): CustomDecorator => SetMetadata(OPERATION_METADATA, operation);

import { VCPU_MIN, CPU_PRODUCTS, type CpuProduct } from '@berth/domain';
import { QueryIntegerField, QueryListField } from '../../fields/query-field.js';
import { IncludeField } from './include-field.js';

export class CpuQueryDto {
  @IncludeField()
  readonly include?: 'AVAILABILITY'[];

  @QueryListField({
    isOptional: true,
    choices: CPU_PRODUCTS,
    description: 'What the vCPU are for, separated by commas; any of them will do. Only with `include=AVAILABILITY`.',
    example: ['SERVERLESS'],
  })
  readonly product?: CpuProduct[];

  @QueryIntegerField({
    isOptional: true,
    minimum: VCPU_MIN,
    rule: (count) => (Number.isInteger(Math.log2(count)) ? null : 'must be a power of two'),
    description:
      "vCPU of one worker or pod, a power of two; unless given, the flavor's fewest. Only with `include=AVAILABILITY`.",
    example: 4,
  })
  readonly vcpuCount?: number;
}

import { QueryBooleanField } from '../../fields/query-field.js';

export class PodQueryDto {
  @QueryBooleanField({
    isOptional: true,
    default: false,
    description: 'Whether to list pods of clusters as well.',
    example: true,
  })
  readonly includeClusterPods?: boolean;
}

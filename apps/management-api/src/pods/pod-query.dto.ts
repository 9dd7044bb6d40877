import { QueryBooleanField } from '@berth/http';

export class PodQueryDto {
  @QueryBooleanField({
    isOptional: true,
    default: false,
    description: 'Whether to list pods of clusters as well.',
    example: true,
  })
  readonly includeClusterPods?: boolean;
}

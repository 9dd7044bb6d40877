import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiResponse, getSchemaPath, ApiExtraModels } from '@nestjs/swagger';
import { PROBLEMS } from './problem-types.js';

/** `ErrorResponse` of the specification. */
export class ProblemBody {
  @ApiProperty({ format: 'uri', description: 'A page that explains this kind of problem.' })
  readonly type!: string;

  @ApiProperty({ description: 'Short summary, the same for every occurrence.' })
  readonly title!: string;

  @ApiProperty({ type: 'integer', description: 'HTTP status.' })
  readonly status!: number;

  @ApiProperty({ description: 'What happened here.' })
  readonly detail!: string;

  @ApiProperty({ type: [String], required: false, description: 'Each single failure as `$.path: reason`.' })
  readonly errors?: readonly string[];

  @ApiProperty({ description: 'Id of the request, as the log has it.' })
  readonly instance!: string;
}

/** Documents the problems that an operation answers. */
export const ApiProblems = (...statuses: readonly number[]): MethodDecorator =>
  applyDecorators(
    ApiExtraModels(ProblemBody),
    ...statuses.map((status) =>
      ApiResponse({
        status,
        description: titlesOf(status),
        content: { 'application/problem+json': { schema: { $ref: getSchemaPath(ProblemBody) } } },
      }),
    ),
  );

const titlesOf = (status: number): string =>
  Object.values(PROBLEMS)
    .filter((problem) => problem.status === status)
    .map(({ title }) => title)
    .join('; ');

import { ApiExtension, ApiProperty } from '@nestjs/swagger';
import type { ErrorCode } from '@berth/domain';

/** The body of an error of a management path (API decisions 1.1). */
export class ProblemBody {
  @ApiProperty({
    format: 'uri',
    description: 'A page that explains this kind of problem. Its last part is the code to branch on.',
    example: 'https://api.example.com/docs/problems/endpoint-not-found',
  })
  readonly type!: string;

  @ApiProperty({ description: 'Short summary, the same for every occurrence.', example: 'Endpoint not found' })
  readonly title!: string;

  @ApiProperty({ type: 'integer', minimum: 400, maximum: 599, description: 'HTTP status.', example: 404 })
  readonly status!: number;

  @ApiProperty({ description: 'What happened here.', example: 'No such endpoint.' })
  readonly detail!: string;

  @ApiProperty({
    type: [String],
    required: false,
    description: 'Each single failure as `$.path: reason`.',
    example: ['$.name: is required'],
  })
  readonly errors?: readonly string[];

  @ApiProperty({
    required: false,
    description: 'Of paths under `/v1` only: the same text as `detail`.',
    example: 'No such endpoint.',
  })
  readonly message?: string;

  @ApiProperty({ description: 'Id of the request, as the log has it.', example: 'req_q8w2e5r1t6y9ui3o4p7a0s1d' })
  readonly instance!: string;
}

/** Where an operation's document has the codes that its handler names. */
export const PROBLEMS_EXTENSION = 'x-problems';

/**
 * Documents the problems that are particular to an operation. Those that the edge answers everywhere (keys, scopes, rate
 * limits, bodies, preconditions) are in the document without being named.
 */
export const ApiProblems = (...codes: readonly ErrorCode[]): MethodDecorator =>
  ApiExtension(PROBLEMS_EXTENSION, codes) as MethodDecorator;

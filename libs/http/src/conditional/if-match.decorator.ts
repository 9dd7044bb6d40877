import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { parseIfMatch, type VersionMatch } from './version-tag.js';

const documented = ApiHeader({
  name: 'If-Match',
  required: false,
  description: 'Entity tags, as `ETag` gave them: the change is made only to one of these versions, else it is 412.',
  schema: { type: 'string' },
  example: '"7"',
});

/** Injects what `If-Match` asks for into a handler; null without the header. Hand it to `requireVersion`. */
export const IfMatch = createParamDecorator(
  (_: unknown, context: ExecutionContext): VersionMatch | null => {
    const header = context.switchToHttp().getRequest<FastifyRequest>().headers['if-match'];
    return header === undefined ? null : parseIfMatch(header);
  },
  [
    (controller, name = '') => {
      const handler = Object.getOwnPropertyDescriptor(controller, name);
      if (handler !== undefined) documented(controller, name, handler);
    },
  ],
);

import { Controller, Get, Header, Headers, Param, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Public } from '@berth/http';
import { PROBLEM_PAGE_POLICY, prefersHtml } from './problem-page.js';
import { ProblemPagesService } from './problem-pages-service.js';

/** As much of an answer as this room needs. */
interface Reply {
  header(name: string, value: string): unknown;
}

@ApiTags('Problems')
@Controller('docs/problems')
@Public()
export class ProblemsController {
  readonly #pages: ProblemPagesService;

  constructor(pages: ProblemPagesService) {
    this.#pages = pages;
  }

  @Get(':code')
  @Header('vary', 'Accept')
  @ApiOperation({
    summary: 'What a kind of problem means and how to mend it',
    description: 'The page that `type` of a problem leads to: HTML for browsers, plain text for everybody else.',
  })
  @ApiOkResponse({
    content: { 'text/plain': { schema: { type: 'string' } }, 'text/html': { schema: { type: 'string' } } },
  })
  async page(
    @Param('code') code: string,
    @Headers('accept') accept: string | undefined,
    @Res({ passthrough: true }) reply: Reply,
  ): Promise<Buffer> {
    const page = await this.#pages.page(code);
    if (prefersHtml(accept)) {
      reply.header('content-type', 'text/html; charset=utf-8');
      reply.header('content-security-policy', PROBLEM_PAGE_POLICY);
      return page.html;
    }
    // Browsers save Markdown to disk; as plain text they show it.
    reply.header('content-type', 'text/plain; charset=utf-8');
    return page.text;
  }
}

import { Controller, Get, Header, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Public } from '@berth/http';
import { ProblemPagesService } from './problem-pages.service.js';

@ApiTags('Problems')
@Controller('docs/problems')
@Public()
export class ProblemsController {
  readonly #pages: ProblemPagesService;

  constructor(pages: ProblemPagesService) {
    this.#pages = pages;
  }

  @Get(':code')
  // Browsers save Markdown to disk; as plain text they show it.
  @Header('content-type', 'text/plain; charset=utf-8')
  @ApiOperation({ summary: 'What a kind of problem means and how to mend it' })
  @ApiOkResponse({ content: { 'text/plain': { schema: { type: 'string' } } } })
  page(@Param('code') code: string): Promise<string> {
    return this.#pages.page(code);
  }
}

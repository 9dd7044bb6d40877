import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PlatformError } from '@berth/domain';
import { PROBLEMS } from '@berth/http';
import { renderProblemPage } from './problem-page.js';

/** As they are sent. */
export interface ProblemPage {
  /** Markdown. */
  readonly text: Buffer;
  /** A whole HTML document. */
  readonly html: Buffer;
}

/** The pages that the `type` of a problem names, one per code; each is read and rendered once, as anybody may ask for it. */
export class ProblemPagesService {
  readonly #folder: string;
  /** Code → page; no more than there are codes. */
  readonly #pages = new Map<string, ProblemPage>();

  /** @param folder where the pages lie, as `<code>.md` */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @throws PlatformError `route-not-found` for a code that does not exist */
  async page(code: string): Promise<ProblemPage> {
    if (!Object.hasOwn(PROBLEMS, code)) throw new PlatformError('route-not-found', 'There is no such problem.');
    const page = this.#pages.get(code) ?? (await this.#read(code));
    this.#pages.set(code, page);
    return page;
  }

  async #read(code: string): Promise<ProblemPage> {
    const text = await readFile(join(this.#folder, `${code}.md`));
    const markdown = text.toString();
    const [heading = ''] = markdown.split('\n', 1);
    return { text, html: Buffer.from(renderProblemPage(markdown, heading.replace(/^# /, ''))) };
  }
}

import { createHash } from 'node:crypto';
import { marked } from 'marked';

const STYLE = `
:root { color-scheme: light dark; }
body { font: 1rem/1.6 system-ui, sans-serif; max-width: 44rem; margin: 3rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.25; }
h2 { margin-top: 2rem; font-size: 1.15rem; }
code { font: 0.9em ui-monospace, monospace; background: #8882; border-radius: 4px; padding: 0.1em 0.3em; }
pre { background: #8882; border-radius: 6px; padding: 0.8rem; overflow-x: auto; }
pre code { background: none; padding: 0; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid #8886; padding: 0.3rem 0.6rem; text-align: left; }
`;

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64');

/** The page is one file: it may use its own style and nothing else, and no other page may frame it. */
export const PROBLEM_PAGE_POLICY = [
  `default-src 'none'`,
  `style-src 'sha256-${hashOf(STYLE)}'`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `frame-ancestors 'none'`,
].join('; ');

/** @param markdown one of our own pages, never what a caller wrote: HTML in it would stay HTML */
export function renderProblemPage(markdown: string, title: string): string {
  const content = marked.parse(markdown, { async: false });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} · Berth</title>
<style>${STYLE}</style>
</head>
<body>
${content}</body>
</html>
`;
}

/** Weight of a media type that is named itself; 0 where it is not: a wildcard asks for nothing in particular. */
function weightOf(accept: string, type: string): number {
  const ranges = accept.split(',').map((range) => range.split(';').map((part) => part.trim().toLowerCase()));
  const found = ranges.find(([name]) => name === type);
  if (found === undefined) return 0;
  const quality = found.find((parameter) => parameter.startsWith('q='))?.slice('q='.length) ?? '1';
  return Number(quality) || 0;
}

/** Browsers name HTML; programs that take anything get the text. */
export function prefersHtml(accept = ''): boolean {
  const html = weightOf(accept, 'text/html');
  return html > 0 && html >= Math.max(weightOf(accept, 'text/plain'), weightOf(accept, 'text/markdown'));
}

import type { ApiDocument } from './api-document.js';

/**
 * The shared part of both interfaces may be more than one of them needs: answers, headers and examples that it does not
 * name go.
 */
export function withoutUnused(document: ApiDocument): ApiDocument {
  const { components, paths } = document;
  const named = <Part>(text: string, kind: string, parts: Readonly<Record<string, Part>> = {}): Record<string, Part> =>
    Object.fromEntries(Object.entries(parts).filter(([name]) => text.includes(`"#/components/${kind}/${name}"`)));
  const ofPaths = JSON.stringify(paths);
  const responses = named(ofPaths, 'responses', components.responses);
  const all = `${ofPaths}${JSON.stringify(responses)}`;
  const used = {
    responses,
    headers: named(all, 'headers', components.headers),
    examples: named(all, 'examples', components.examples),
  };
  return { ...document, components: { ...components, ...used } };
}

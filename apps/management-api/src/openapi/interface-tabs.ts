/** An interface that `/docs` shows, and the path of its document. */
export interface ShownInterface {
  readonly name: string;
  readonly url: string;
}

/** The page reads from its address which document it shows. */
const addressOf = (name: string): string => `?urls.primaryName=${encodeURIComponent(name)}`;

/** Puts a tab for each interface above the page. @param shown names without a character that HTML or a string escapes */
export function tabsScript(shown: readonly ShownInterface[]): string {
  const links = shown.map(({ name }) => `<a href="${addressOf(name)}">${name}</a>`).join('');
  const first = addressOf(shown[0]?.name ?? '');
  return [
    `document.body.insertAdjacentHTML('afterbegin', '<nav class="interfaces">${links}</nav>');`,
    `const chosen = location.search || '${first}';`,
    `for (const tab of document.querySelectorAll('.interfaces a')) {`,
    `  if (tab.search === chosen) tab.setAttribute('aria-current', 'page');`,
    '}',
  ].join('\n');
}

/** The tabs take the place of the page's own drop-down list. */
export const TABS_STYLE = `
  .swagger-ui .topbar { display: none; }
  .interfaces { display: flex; gap: 8px; padding: 12px 20px 0; background: #1b1b1b; font: 16px sans-serif; }
  .interfaces a { padding: 10px 16px; border-radius: 4px 4px 0 0; color: #fff; text-decoration: none; }
  .interfaces a[aria-current] { background: #fafafa; color: #1b1b1b; }
`;

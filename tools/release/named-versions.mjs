/** Where images are named, and not as something that once was so. */
export const NAMING_PATHS = ['README.md', 'deploy', 'docs', 'helm', 'examples', ':!docs/decisions'];

const IMAGES = /(?<=\bberth\/(?:berth|job-router|management-api|nats-server|worker-agent):)\d+\.\d+\.\d+\b/g;
/** What the chart says of itself, and writes into all that it makes. */
const CHART =
  /(?<=^(?:appVersion|version): ['"]?|app\.kubernetes\.io\/version: ["']?|helm\.sh\/chart: berth-)\d+\.\d+\.\d+\b/gm;

/** A file as it names the images of that version; one of the chart, with its own version too. */
export function namedIn(path, text, version) {
  const images = text.replace(IMAGES, version);
  return path.startsWith('helm/') ? images.replace(CHART, version) : images;
}

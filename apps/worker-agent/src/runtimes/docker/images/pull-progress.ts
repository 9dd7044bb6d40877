/** One message of the engine's answer to a pull. */
export interface PullEvent {
  /** The layer; absent where the message is about the whole image. */
  readonly id?: string;
  readonly status?: string;
  readonly progressDetail?: { readonly current?: number; readonly total?: number };
  /** Why the pull failed; nothing comes after it. Older engines say it in `error` too, newer ones here only. */
  readonly errorDetail?: { readonly message?: string };
  readonly error?: string;
}

interface Layer {
  /** 0 until the engine has told it. */
  totalBytes: number;
  /** Shares, 0 to 1. */
  downloaded: number;
  extracted: number;
}

/** What an engine says of a layer; the rest comes before its download. */
const DONE = ['Pull complete', 'Already exists'];
const DOWNLOADED = ['Verifying Checksum', 'Download complete', 'Extracting', ...DONE];

/**
 * How much of an image has been pulled. A layer is downloaded, then extracted, and each is half of its work. The engine
 * tells a layer's size only when its download begins, so until then it counts as large as the mean of the others.
 */
export class PullProgress {
  readonly #layers = new Map<string, Layer>();
  #percent = 0;

  /** Whole per cent, which never go back; null until the size of any layer is known. */
  take(event: PullEvent): number | null {
    const { id, status } = event;
    if (id === undefined || status === undefined || status.startsWith('Pulling from')) return this.#reading();
    const layer = this.#layers.get(id) ?? { totalBytes: 0, downloaded: 0, extracted: 0 };
    this.#layers.set(id, layer);
    advance(layer, status, event.progressDetail ?? {});
    return this.#reading();
  }

  #reading(): number | null {
    const layers = [...this.#layers.values()];
    const sizes = layers.map(({ totalBytes }) => totalBytes).filter((size) => size > 0);
    if (sizes.length === 0) return null;
    const mean = sum(sizes) / sizes.length;
    const weightOf = ({ totalBytes }: Layer): number => (totalBytes > 0 ? totalBytes : mean);
    const work = sum(layers.map((layer) => (weightOf(layer) * (layer.downloaded + layer.extracted)) / 2));
    this.#percent = Math.max(this.#percent, Math.floor((100 * work) / sum(layers.map(weightOf))));
    return this.#percent;
  }
}

function advance(
  layer: Layer,
  status: string,
  { current = 0, total = 0 }: NonNullable<PullEvent['progressDetail']>,
): void {
  if (total > 0) layer.totalBytes = total;
  const share = total > 0 ? Math.min(1, current / total) : 0;
  if (status === 'Downloading') layer.downloaded = Math.max(layer.downloaded, share);
  if (status === 'Extracting') layer.extracted = Math.max(layer.extracted, share);
  if (DOWNLOADED.includes(status)) layer.downloaded = 1;
  if (DONE.includes(status)) layer.extracted = 1;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

import type { ListedJob, Slice } from '@berth/domain';

/** Longest list in one answer, in bytes of JSON: everything else of an answer is small beside it. */
const SLICE_MAX_BYTES = 512 * 1024;
/** An entry without its error, about. */
const ENTRY_BYTES = 1_024;
/** A character takes as many bytes of JSON at most: what would take more was cleaned away before it became a fact. */
const BYTES_PER_UNIT = 3;

/** As much of the slice as fits into one answer; the list goes on below it. */
export function fittingSlice(slice: Slice<ListedJob>, maxBytes = SLICE_MAX_BYTES): Slice<ListedJob> {
  let bytes = 0;
  for (const [index, { createdAtMs, error, jobId }] of slice.entries.entries()) {
    bytes += ENTRY_BYTES + BYTES_PER_UNIT * (error?.length ?? 0);
    const isLast = index === slice.entries.length - 1;
    if (bytes < maxBytes || isLast) continue;
    return { entries: slice.entries.slice(0, index + 1), through: { createdAtMs, jobId } };
  }
  return slice;
}

/** Which GPUs a worker may have. All fields are trimmed and free of repeats. */
export interface GpuRequest {
  /** Pool ids in order of preference, without repeats. */
  readonly pools: readonly string[];
  /** GPU type ids taken out of the pools. */
  readonly excludedTypes: readonly string[];
  /** GPUs per worker, all of one type. */
  readonly count: number;
  /** `major.minor`, exact; empty means any. */
  readonly allowedCudaVersions: readonly string[];
  readonly minCudaVersion: string | null;
  /**
   * GPU type ids in order of preference, kept from the older create form, which names types instead of pools. Absent or
   * empty: the order of the pools decides, and the types of one pool are equal.
   */
  readonly preferredTypes?: readonly string[];
}

/** One acceptable size of a CPU worker. A list of them is in order of preference. */
export interface CpuRequest {
  readonly flavorId: string;
  readonly vcpuCount: number;
}

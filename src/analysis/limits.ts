/** How much of a repository is looked at. Beyond that the result says so in its warnings; it never waits or swells. */
export interface AnalysisLimits {
  readonly entries: number;
  readonly depth: number;
  /** Of one file; larger ones are taken for not there. */
  readonly fileBytes: number;
  /** Of lock files, which are only asked for a few facts. */
  readonly lockFileBytes: number;
  readonly sourceFiles: number;
  readonly totalBytes: number;
  /** Of the processor, so that a busy machine does not change a result. */
  readonly timeMs: number;
}

export const standardLimits: AnalysisLimits = {
  entries: 200_000,
  depth: 16,
  fileBytes: 1024 * 1024,
  lockFileBytes: 16 * 1024 * 1024,
  sourceFiles: 3_000,
  totalBytes: 48 * 1024 * 1024,
  timeMs: 15_000,
};

/** Beyond one of them the process of an analysis is killed. */
export interface ProcessLimits {
  readonly cpuMs: number;
  /** Of the whole process, native memory and stacks included. */
  readonly memoryMb: number;
  /** Kept by the service: even one that does nothing ends. */
  readonly wallMs: number;
  /** The service has to take it in. */
  readonly resultBytes: number;
}

/**
 * Of the process that an analysis runs in. Most need a hundredth of it; what needs more was made to, and is killed. A
 * busy machine makes neither processor time nor memory more, so only the time on the clock is generous.
 */
export const processLimits: ProcessLimits = {
  cpuMs: 30_000,
  memoryMb: 768,
  wallMs: 90_000,
  resultBytes: 4 * 1024 * 1024,
};

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
  readonly timeMs: number;
}

export const standardLimits: AnalysisLimits = {
  entries: 200_000,
  depth: 16,
  fileBytes: 1024 * 1024,
  lockFileBytes: 16 * 1024 * 1024,
  sourceFiles: 3_000,
  totalBytes: 48 * 1024 * 1024,
  timeMs: 20_000,
};

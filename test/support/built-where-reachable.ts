import { isUnreachable } from '../../src/adapters/docker/build-faults.ts';

/**
 * Registries of packages are the one real thing out there. Where one does not answer in that moment, which is no finding
 * about us, Docker begins again at the step that failed. Everything else fails the test, with what it said.
 */
export async function builtWhereReachable<T>(build: () => Promise<T>): Promise<T> {
  for (let left = 2; ; left -= 1) {
    try {
      return await build();
    } catch (error) {
      if (left === 0 || !(error instanceof Error && isUnreachable.test(error.message))) throw error;
    }
  }
}

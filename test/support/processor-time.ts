/**
 * How much processor time something takes here. For texts that are made to hurt: a reader that goes back and forth in
 * them needs minutes, one that does not needs moments, and a busy machine changes neither much, as it does a clock.
 */
export function processorSeconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** How many servers of a cluster are managers, and which. Pure. */

/** An odd number: a majority of them has to be there, and a fourth would only add one that may not fail. */
export function managersWanted(servers: number): 1 | 3 | 5 {
  if (servers <= 2) return 1;
  return servers <= 6 ? 3 : 5;
}

/** How many of them have to reach each other for anything to be changed. */
export function majorityOf(managers: number): number {
  return Math.floor(managers / 2) + 1;
}

export interface ManagerCandidate {
  readonly id: string;
  readonly isManager: boolean;
  readonly isLeader: boolean;
  readonly isUp: boolean;
  /** Away for so long that another takes its place, where there is one. */
  readonly isLost: boolean;
}

export interface ManagerChanges {
  readonly promote: readonly string[];
  readonly demote: readonly string[];
}

/** Who is a manager stays one where possible. One that is lost is replaced, never only removed: it may come back. */
export function planManagers(nodes: readonly ManagerCandidate[]): ManagerChanges {
  const wanted = managersWanted(nodes.length);
  const managers = nodes.filter(({ isManager }) => isManager);
  const kept = managers.filter(({ isLost }) => !isLost).sort(byUse);
  const lost = managers.filter(({ isLost }) => isLost);
  const spare = nodes.filter((each) => !each.isManager && each.isUp && !each.isLost);
  const promote = spare.slice(0, Math.max(0, wanted - kept.length));
  const stillMissing = Math.max(0, wanted - kept.length - promote.length);
  // The lost ones first: as long as they are counted, a majority needs more of the others.
  const demote = [...lost.slice(stillMissing), ...kept.slice(wanted)];
  return { promote: promote.map(({ id }) => id), demote: demote.map(({ id }) => id) };
}

function byUse(a: ManagerCandidate, b: ManagerCandidate): number {
  return Number(b.isLeader) - Number(a.isLeader) || Number(b.isUp) - Number(a.isUp);
}

/** What stands and what may still fail, in words. */
export function quorumInWords(managers: number, reachable: number): string {
  const needed = majorityOf(managers);
  const these = managers === 1 ? 'The only manager' : `${reachable} of ${managers} managers`;
  if (managers === 0) return 'The cluster has no manager yet.';
  if (reachable < needed)
    return `${managers === 1 ? 'The only manager does not answer' : `Only ${reachable} of ${managers} managers answer, and ${needed} are needed`}: what runs goes on, but nothing can be changed and nothing that fails is replaced.`;
  const spare = reachable - needed;
  if (spare === 0)
    return `${these} ${managers === 1 || reachable === 1 ? 'answers' : 'answer'}; if one more is lost, nothing can be changed until it is back.`;
  return `${these} answer; ${spare === 1 ? 'one more' : `${spare} more`} may be lost.`;
}

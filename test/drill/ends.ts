/** Which ends of operations the faults of a wave explain. Every other one is wrong. */
import type { FaultKind } from './faults.ts';
import type { EndedOperation } from './history.ts';
import { type Expected, well } from './lane.ts';

interface Rule {
  readonly faults: readonly FaultKind[];
  readonly kinds: RegExp;
  readonly codes: RegExp;
}

/** Kills, standstills and a database that is away explain nothing: whoever is left goes on. */
const rules: readonly Rule[] = [
  // What its server does to a deployment in the middle may end it: a reboot with any fault but those of our own.
  { faults: ['disk'], kinds: /^deployment$/, codes: /^(disk_full|build_failed)$/ },
  { faults: ['reboot', 'reboot of member'], kinds: /^deployment$/, codes: /./ },
  // The authority comes to see for itself, by the name and through the proxy, and does not come twice.
  { faults: ['names', 'cut', 'proxy', 'reboot'], kinds: /^certificate$/, codes: /^challenge_failed$/ },
];

/** Nothing explains these. */
const ours = /^(internal_error|undo_failed|deadline_exceeded)$/;

export function endWrongs(
  operations: readonly EndedOperation[],
  expected: ReadonlyMap<string, Expected>,
  faults: ReadonlySet<FaultKind>,
): string[] {
  return operations.flatMap((operation) => {
    const { id, kind, state, fault } = operation;
    const wanted = expected.get(id) ?? well;
    const code = fault?.code ?? '';
    if (isAsWanted(operation, wanted)) return [];
    const isExplained =
      state === 'failed' &&
      !ours.test(code) &&
      rules.some(
        (rule) =>
          rule.kinds.test(kind) && rule.codes.test(code) && rule.faults.some((each) => faults.has(each)),
      );
    if (isExplained) return [];
    return [`${kind} ${id} ended ${state} instead of ${wanted.state}: ${JSON.stringify(fault)}`];
  });
}

function isAsWanted(
  { state, fault }: EndedOperation,
  { state: wanted, code, orSucceeded }: Expected,
): boolean {
  if (orSucceeded && state === 'succeeded') return true;
  return state === wanted && (code === undefined || code.test(fault?.code ?? ''));
}

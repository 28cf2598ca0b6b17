/**
 * Where a value may be one of several things, a validator says what is wrong with each of them. A person meant one:
 * the alternative that fits best is the one to speak of.
 */

export interface Failure {
  readonly keyword: string;
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string;
}

export function ofTheMeantOne<F extends Failure>(failures: readonly F[], from = 0): F[] {
  const groups = new Map<string, Map<string, F[]>>();
  const plain: F[] = [];
  for (const failure of failures) {
    const found = /^(.*?)\/anyOf(?:\/(\d+))?(?:\/|$)/.exec(failure.schemaPath.slice(from));
    if (!found) plain.push(failure);
    else if (found[2] !== undefined) {
      const prefix = `${failure.schemaPath.slice(0, from)}${found[1]}`;
      const branches = groups.get(prefix) ?? new Map<string, F[]>();
      groups.set(prefix, branches.set(found[2], [...(branches.get(found[2]) ?? []), failure]));
    }
  }
  const chosen = [...groups].flatMap(([prefix, branches]) =>
    choose([...branches].map(([branch, all]) => ofTheMeantOne(all, `${prefix}/anyOf/${branch}`.length))),
  );
  return [...plain, ...chosen];
}

function choose<F extends Failure>(branches: readonly F[][]): F[] {
  // What says of which kind it is lies outermost; a constant further in is a field like others.
  const constants = branches.flat().filter(({ keyword }) => keyword === 'const');
  const [outermost] = constants.toSorted((one, other) => depthOf(one) - depthOf(other));
  const isTag = ({ keyword, instancePath }: F) =>
    keyword === 'const' && instancePath === outermost?.instancePath;
  const tags = branches.map((failures) => failures.find(isTag));
  const [tag] = tags;
  // None of them is of this kind: the kinds there are say more than what one of them lacks.
  if (tag && tags.every((each) => each !== undefined)) {
    const allowedValues = tags.map(({ params }) => params.allowedValue);
    return [{ ...tag, keyword: 'enum', params: { allowedValues } }];
  }
  const costs = branches.map((failures) =>
    failures.reduce((sum, each) => sum + (isTag(each) ? 100 : costOf(each)), 0),
  );
  return branches[costs.indexOf(Math.min(...costs))] ?? [];
}

const depthOf = ({ instancePath }: Failure) => instancePath.split('/').length;

/** A wrong kind weighs most, then a field that it does not have; a field that is missing is merely missing. */
function costOf({ keyword }: Failure): number {
  if (keyword === 'additionalProperties' || keyword === 'type') return 10;
  return 1;
}

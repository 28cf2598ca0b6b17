/** What is on the server after a trial, beside what should be: one release, and nothing of any other. */
import { readFronts } from '../../src/adapters/proxy/read-fronts.ts';
import { unitRoot } from '../../src/remote/units/unit-scripts.ts';
import { until } from '../support/until.ts';
import type { Body, Ground } from './ground.ts';

/** Units, folders of builds, containers, and processes of a build that nobody waits for. */
export const look = `
docker ps --all --filter label=slipway=app --format 'container {{.Label "slipway.environment"}} {{.Label "slipway.deployment"}} {{.State}} {{.Names}}'
docker images --filter label=slipway=image --format 'image {{.Repository}}:{{.Tag}}'
docker images --filter label=slipway=image --filter dangling=true --format 'dangling {{.ID}}'
systemctl list-units --all --plain --no-legend 'slipway-????????-*.service' | awk '{ print "unit", $1, $3 }'
for each in units builds; do if [ -d ${unitRoot}/$each ]; then ls -A ${unitRoot}/$each | sed "s/^/$each /"; fi; done
find /sys/fs/cgroup/*/slipwaybuild.slice -name cgroup.procs -exec cat {} + 2> /dev/null | sort -u | sed 's/^/process /' || true
`;

export interface Images {
  readonly before: ReadonlySet<string>;
  /** Whether the trial has built and ended well: then only those of the newest releases are kept. */
  readonly isTidied: boolean;
}

export const keptImages = 5;

export async function imagesOn(ground: Ground): Promise<Set<string>> {
  return new Set(of(await ground.sh(look), 'image').filter((each) => each.includes(ground.environmentId)));
}

/** What a worker that was killed had asked of the server may still be on its way: it gets a moment. */
export async function consistent(ground: Ground, images: Images): Promise<void> {
  let found: string[] = [];
  await until(async () => {
    found = await wrongs(ground, images);
    return found.length === 0 || undefined;
  }, 'the server to be as it should').catch((error: unknown) => {
    throw new Error(`after the trial: ${found.join('; ')}`, { cause: error });
  });
}

async function wrongs(ground: Ground, images: Images): Promise<string[]> {
  const seen = await ground.sh(look);
  const wrong = await placeWrongs(ground, seen, [ground.environmentId, ground.otherId]);
  wrong.push(...leftWrongs(seen), ...imagesOver(seen, ground, images));
  const active = (await ground.deployments()).filter(({ finishedAt }) => finishedAt === null);
  if (active.length > 0) wrong.push(`${active.length} deployments have not ended`);
  return wrong;
}

/** Of environments that are to run their current release, and nothing else. */
export async function placeWrongs(ground: Ground, seen: string, ids: readonly string[]): Promise<string[]> {
  const wrong: string[] = [];
  const { fronts, isRunning } = await readFronts({
    remote: ground.remote,
    signal: AbortSignal.timeout(30_000),
  });
  if (!isRunning) wrong.push('the proxy does not run');
  for (const id of ids) {
    const environment = await ground.environment(id);
    if (environment.status !== 'running') wrong.push(`environment ${id} is ${environment.status}`);
    wrong.push(...containersOf(seen, environment));
    const front = fronts.find((each) => each.id === id);
    const listed = [...(front?.file?.servers ?? []), ...(front?.running?.servers ?? [])].map(
      ({ name }) => name,
    );
    const only = `slipway-${environment.currentDeploymentId}-web-1`;
    if (listed.join() !== [only, only].join() || !front?.agrees)
      wrong.push(`the proxy of ${id} has ${listed.join()}`);
  }
  return wrong;
}

/** What no server has when nothing is at work. */
export function leftWrongs(seen: string): string[] {
  return ['unit', 'units', 'builds', 'process', 'dangling'].flatMap((kind) =>
    of(seen, kind).map((each) => `${kind} ${each} is left`),
  );
}

function containersOf(seen: string, { id, currentDeploymentId }: Body): string[] {
  const mine = of(seen, 'container')
    .map((each) => each.split(' '))
    .filter(([environment]) => environment === id);
  const running = mine.filter(
    ([, deployment, state]) => deployment === currentDeploymentId && state === 'running',
  );
  const others = mine.filter((each) => !running.includes(each)).map((each) => `${each.join(' ')} is left`);
  return [
    ...(running.length === 1 ? [] : [`${running.length} containers of ${currentDeploymentId} run`]),
    ...others,
  ];
}

/** One that did not end well leaves at most its own image: it is not built again when it is tried again. */
function imagesOver(seen: string, { environmentId }: Ground, { before, isTidied }: Images): string[] {
  const now = of(seen, 'image').filter((each) => each.includes(environmentId));
  const added = now.filter((each) => !before.has(each));
  if (added.length > 1) return [`images ${added.join()} are new`];
  return isTidied && now.length > keptImages ? [`${now.length} images are kept`] : [];
}

export function of(seen: string, kind: string): string[] {
  return seen
    .split('\n')
    .filter((line) => line.startsWith(`${kind} `))
    .map((line) => line.slice(kind.length + 1));
}

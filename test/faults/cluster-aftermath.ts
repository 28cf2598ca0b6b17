/** What is on the servers of a cluster after a trial, beside what should be: every proxy at one release, and nothing of any other. */
import type { ServerDescription } from '../../lab/description.ts';
import { leftWrongs, look, of } from './aftermath.ts';
import type { Body, Ground } from './ground.ts';

/** `ids` are all the environments that stand on it. */
export async function clusterWrongs(
  ground: Ground,
  servers: readonly ServerDescription[],
  ids: readonly string[],
): Promise<string[]> {
  const environments = await Promise.all(ids.map((id) => ground.environment(id)));
  const wanted = environments.flatMap(replicasOf);
  const services = await servicesOf(ground, servers);
  const wrong = environments.flatMap(({ id, status }) =>
    status === 'running' ? [] : [`environment ${id} is ${status}`],
  );
  if (sorted(services.split('\n')) !== sorted(wanted.map((name) => `${name} 1/1`)))
    wrong.push(`services: ${services}`);
  let running = 0;
  for (const server of servers) {
    const seen = await ground.sh(look, server);
    wrong.push(...leftWrongs(seen).map((each) => `${server.name}: ${each}`));
    for (const container of of(seen, 'container')) {
      const [, deployment, state] = container.split(' ');
      const isCurrent = environments.some(({ currentDeploymentId }) => currentDeploymentId === deployment);
      // Swarm keeps what has ended of a service that it replaced on another server.
      if (!isCurrent) wrong.push(`${server.name}: ${container}`);
      else if (state === 'running') running += 1;
    }
    const fronts = await ground.sh('cat /var/lib/slipway/proxy/config/front-* 2> /dev/null || true', server);
    const named = [...new Set(fronts.match(/slipway-[0-9a-f-]{36}-web-\d+/g))];
    if (sorted(named) !== sorted(wanted)) wrong.push(`${server.name}: the proxy names ${named.join(', ')}`);
  }
  if (running !== wanted.length) wrong.push(`${running} containers run`);
  return wrong;
}

/** Only a manager knows them. */
async function servicesOf(ground: Ground, servers: readonly ServerDescription[]): Promise<string> {
  for (const server of servers)
    if ((await ground.sh(`docker info --format '{{.Swarm.ControlAvailable}}'`, server)) === 'true')
      return ground.sh(`docker service ls --format '{{.Name}} {{.Replicas}}'`, server);
  return 'no server is a manager';
}

function replicasOf({ currentDeploymentId, placement }: Body): string[] {
  const { replicas } = Object(placement);
  return Array.from(
    { length: Number(replicas) },
    (_, index) => `slipway-${currentDeploymentId}-web-${index + 1}`,
  );
}

function sorted(names: readonly string[]): string {
  return [...names].sort().join();
}

/** What an environment may not have on a cluster: several replicas on one volume, and a port that no other server reaches. */
import type { PlannedRun } from '../../../engine/release-spec.ts';
import { Fault } from '../../../fault.ts';
import type { EnvironmentSettings } from '../environments.ts';

const oneReplica = 'must be 1 on a cluster with `volumes`: a volume is on one server, and so is what uses it';
const noHealthPort =
  'must not be set on a cluster: only the port of the app itself is reached from other servers';

/** Of what a commit would run as: the repository may bring what no setting names. */
export function refuseRunOnCluster({ volumes, replicas, health }: PlannedRun): void {
  const port = health.port === null ? {} : { health: { port: health.port } };
  refuseSettingsOnCluster({ volumes, replicas, ...port });
}

export function refuseSettingsOnCluster({ volumes = [], replicas = 1, health }: EnvironmentSettings): void {
  const errors = [
    ...(volumes.length > 0 && replicas > 1 ? [{ path: 'settings.replicas', message: oneReplica }] : []),
    ...(health?.port === undefined ? [] : [{ path: 'settings.health.port', message: noHealthPort }]),
  ];
  const [first] = errors;
  if (!first) return;
  throw new Fault('not_on_cluster', `This cannot run on a cluster: ${first.path} ${first.message}.`, {
    hint: 'Place the environment on a server, or change what `errors` names.',
    evidence: errors.map(({ path, message }) => `${path} ${message}`).join('\n'),
    errors,
  });
}

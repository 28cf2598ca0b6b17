import type { DeploymentSummary, Environment } from '../../sdk/index.ts';
import { whyNot } from '../data/session.ts';

/** Why a release cannot be gone back to. */
export function whyNoRollback(deployment: DeploymentSummary, environment: Environment): string | undefined {
  if (deployment.id === environment.currentDeploymentId) return 'This is what is live.';
  if (deployment.status !== 'succeeded') return 'It never was live, so there is no release to go back to.';
  return whyNot('deploy');
}

/** Pages that the first view does not need: one file for all of them, so that going from one to the next loads nothing. */
export { Backups } from './backups.tsx';
export { ClusterPage } from './cluster.tsx';
export { Clusters } from './clusters.tsx';
export { Connectors } from './connectors.tsx';
export { DevicePage } from './device.tsx';
export { Domains } from './domains.tsx';
export { FirstRun } from './first-run.tsx';
export { Join, ResetPassword } from './from-mail.tsx';
export { GitAccounts } from './git-accounts.tsx';
export { InstallationPage } from './installation.tsx';
export { NotFound } from './not-found.tsx';
export { Profile } from './profile.tsx';
export { ProjectPage } from './project.tsx';
export { ServerPage } from './server.tsx';
export { Servers } from './servers.tsx';
export { WorkspacePage } from './workspace.tsx';

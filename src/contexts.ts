/**
 * What each area is given: what it uses, and nothing else. Here, too, is what an area is told by those above it: which
 * hooks there are, in which order, and who answers what it has to ask.
 */
import type { AccountsContext } from './areas/accounts/accounts.ts';
import { Authenticator } from './areas/accounts/authenticate.ts';
import { MailOutbox } from './areas/accounts/mail-outbox.ts';
import type { OidcContext } from './areas/accounts/oidc/oidc.ts';
import type { BackupsContext } from './areas/backups/backups.ts';
import { backupsHook } from './areas/backups/environment-hook.ts';
import type { ClustersContext } from './areas/clusters/clusters.ts';
import type { DeploymentsContext } from './areas/deployments/deployments.ts';
import { deploymentsHook } from './areas/deployments/environment-hook.ts';
import { requestDeployment } from './areas/deployments/request-deployment.ts';
import { routeEnvironments } from './areas/domains/domain-work.ts';
import type { DomainsContext } from './areas/domains/domains.ts';
import { caaNamesOf } from './areas/domains/domains.ts';
import { domainsHook } from './areas/domains/environment-hook.ts';
import type { EnvironmentsContext } from './areas/environments/context.ts';
import type { EnvironmentHooks } from './areas/environments/hooks.ts';
import type { LiveLogsContext } from './areas/environments/live/live-logs.ts';
import { dataOn, leaveHome } from './areas/environments/placement/cluster-home.ts';
import type { TargetAccess } from './areas/environments/placement/open-target.ts';
import { projectLookup } from './areas/environments/project-lookup.ts';
import { environmentsOn } from './areas/environments/read-environments.ts';
import { environmentsOfRemovedProjects } from './areas/environments/remove-environment.ts';
import type { GitProvidersContext } from './areas/git-providers/git-providers.ts';
import { RepositoryCache } from './areas/git-providers/repository-cache.ts';
import type { InstallationContext } from './areas/installation/installation.ts';
import { consentLink } from './areas/notifications/consent.ts';
import type { NotificationsContext } from './areas/notifications/notifications.ts';
import { projectsUsing } from './areas/projects/find-projects.ts';
import type { ProjectsContext } from './areas/projects/projects.ts';
import type { ProjectRemovalContext } from './areas/projects/remove-project.ts';
import { ensureHook, pushesHook } from './areas/pushes/install-hook.ts';
import type { DeployPush, PushesContext } from './areas/pushes/pushes.ts';
import { knownSecrets } from './areas/reconcile/known-secrets.ts';
import type { StartContext } from './areas/reconcile/start-environment.ts';
import { releasesHook } from './areas/releases/environment-hook.ts';
import type { ServersContext } from './areas/servers/servers.ts';
import { servicesHook } from './areas/services/environment-hook.ts';
import type { ServiceRequestsContext } from './areas/services/services.ts';
import { setGroupRoles, unknownWorkspaces } from './areas/workspaces/group-roles.ts';
import {
  findInvitationByToken,
  findInvitationFor,
  invitationLink,
  joinInvited,
} from './areas/workspaces/invitations.ts';
import type { WorkspacesContext } from './areas/workspaces/workspaces.ts';
import type { EnvironmentId, WorkspaceId } from './ids.ts';
import type { Resources } from './resources.ts';

export type Contexts = ReturnType<typeof createContexts>;

export function createContexts(resources: Resources, publicUrl: () => string, deployPush?: DeployPush) {
  const { config, log, clock, mailer, queue, kinds, pool, resolveServer, egress, mirrors, uploads, analyst } =
    resources;
  const { db, sealer, masterKeys } = resources.store;
  const mails = new MailOutbox({
    db,
    clock,
    masterKeys,
    mailer,
    publicUrl,
    consentLink: (recipientId) => consentLink({ db, clock, publicUrl }, recipientId),
    invitationLink: (invitationId) => invitationLink({ db, clock, publicUrl }, invitationId),
    log,
  });
  const wakeMail = () => mails.wake();
  const secretsOf = (workspaceId: WorkspaceId, id: EnvironmentId) =>
    knownSecrets({ db, sealer }, workspaceId, id);

  const invitations = { find: findInvitationFor, join: joinInvited };
  const accounts: AccountsContext = {
    db,
    clock,
    masterKeys,
    sealer,
    config,
    invitations,
    publicUrl,
    wakeMail,
  };
  const oidc: OidcContext = {
    accounts,
    oidc: resources.oidc,
    publicUrl,
    findInvitation: findInvitationByToken,
    setGroupRoles,
  };
  const resolveHost = resolveServer;
  const servers: ServersContext = { db, clock, sealer, queue, pool, resolveHost, log, environmentsOn };
  const clusters: ClustersContext = {
    db,
    clock,
    sealer,
    queue,
    pool,
    environmentsOn,
    leaveHome: (tx, ...left) => leaveHome(tx, hooks, ...left),
    dataOn: (tx, ...of) => dataOn(tx, hooks, ...of),
    routeEnvironments: (tx, workspaceId, ids) => routeEnvironments(tx, { queue }, workspaceId, ids),
  };
  const targets: TargetAccess = { db, sealer, pool, secretsOf };
  const providers: GitProvidersContext = {
    db,
    clock,
    sealer,
    egress,
    cache: new RepositoryCache(clock),
    projectsUsing,
  };
  const allowHttp = config.allowPrivateEgress;
  const projects: ProjectsContext = { db, clock, sealer, queue, mirrors, analyst, providers, allowHttp };
  const services: ServiceRequestsContext = { db, clock, sealer, queue, servers: targets };
  const { dns, acme } = resources;
  const { acmeDirectory: directoryUrl } = config;
  const authority = { directoryUrl, caaNames: caaNamesOf(directoryUrl), acme };
  const domains: DomainsContext = { db, clock, sealer, queue, servers: targets, dns, authority };
  const deployments: DeploymentsContext = {
    db,
    clock,
    sealer,
    masterKeys,
    queue,
    kinds,
    mirrors,
    uploads,
    analyst,
    providers,
    servers: targets,
  };
  const pushes: PushesContext = {
    db,
    clock,
    sealer,
    mirrors,
    providers,
    publicUrl,
    deployPush:
      deployPush ??
      (async (tx, workspaceId, environmentId, wanted) => {
        const request = { workspaceId, environmentId, trigger: 'push', wanted } as const;
        await requestDeployment(tx, deployments, request);
      }),
  };
  const reconcile: StartContext = { db, clock, sealer, queue, kinds, servers: targets, log };
  const backups: BackupsContext = {
    db,
    clock,
    sealer,
    queue,
    servers: targets,
    log,
    fetch: egress.fetch,
    keepReplacedDays: config.backupKeepReplacedDays,
    localStorage: resources.localStorage,
    importBytes: config.importMegabytes * 1024 * 1024,
    importDataBytes: config.importDataMegabytes * 1024 * 1024,
  };
  // From below: an environment is made in this order, and removed in the opposite one.
  const hooks: EnvironmentHooks = [
    servicesHook(services),
    domainsHook(domains),
    releasesHook(services),
    deploymentsHook(deployments),
    backupsHook(backups),
  ];
  const environments: EnvironmentsContext = {
    db,
    clock,
    sealer,
    queue,
    mirrors,
    providers,
    servers: targets,
    hooks,
    deploy: (tx, request) => requestDeployment(tx, deployments, request),
    ensureWebhook: (workspaceId, projectId) => ensureHook(pushes, workspaceId, projectId),
  };
  const live: LiveLogsContext = { db, clock, log, servers, secretsOf };
  const removals: ProjectRemovalContext = {
    db,
    queue,
    hooks: [environmentsOfRemovedProjects(environments), pushesHook(pushes)],
  };
  const workspaces: WorkspacesContext = {
    db,
    clock,
    queue,
    wakeMail,
    publicUrl,
    removals,
    clusters,
    servers,
  };
  const provider = resources.oidc?.config;
  const installation: InstallationContext = {
    db,
    clock,
    config,
    mailer,
    log,
    oidc: provider && {
      issuer: provider.issuer,
      unknownWorkspaces: (by) => unknownWorkspaces(by, provider.roles),
    },
  };
  const notifications: NotificationsContext = {
    db,
    clock,
    sealer,
    log,
    publicUrl,
    secretsOf,
    wakeMail,
    environmentHooks: hooks,
    allowPrivate: config.allowPrivateEgress,
    fetch: egress.fetch,
    mailer,
    masterKeys,
  };
  return {
    accounts,
    oidc,
    mails,
    sessions: new Authenticator(db, clock, masterKeys),
    lookup: projectLookup(db),
    servers,
    clusters,
    providers,
    projects,
    removals,
    environments,
    live,
    pushes,
    services,
    domains,
    deployments,
    reconcile,
    backups,
    notifications,
    workspaces,
    installation,
  };
}

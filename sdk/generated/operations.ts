/** Made from openapi.json by `npm run generate`. */
import type { Bytes, CallOptions, EventStream } from '../call.ts';
import type {
  AcceptInvitationRequest,
  AnalysisEvent,
  ApiTokenPage,
  ApiTokenRequest,
  AuditPage,
  AutoDeploy,
  AutoDeployEnvironment,
  Backup,
  BackupConfig,
  BackupConfigChange,
  BackupList,
  BackupWish,
  BranchChange,
  BranchList,
  ChangeNeeds,
  ChangedEnvironment,
  ChangedServices,
  Cluster,
  ClusterChange,
  ClusterList,
  ConfirmRequest,
  ConnectedDomain,
  ConnectedDomainList,
  ConnectingDomain,
  ConnectionTestEvent,
  Containers,
  CreatedNotificationConnector,
  DeployRequest,
  Deployment,
  DeploymentEvent,
  DeploymentList,
  DeploymentLogs,
  DeviceAnswerRequest,
  DeviceCode,
  DeviceCodeRequest,
  DeviceLoginPending,
  DeviceLoginRequest,
  DeviceRequest,
  Domain,
  DomainList,
  DomainOfEnvironment,
  EmailRequest,
  Environment,
  EnvironmentBackupList,
  EnvironmentChange,
  EnvironmentList,
  Finalization,
  FinalizedProject,
  GitProvider,
  GitProviderList,
  HardenServer,
  HardeningPlan,
  Health,
  ImportedFile,
  Installation,
  InstallationChange,
  Invitation,
  InvitationPage,
  InvitationRequest,
  JoinedWorkspace,
  LinkedEnvironment,
  LogEvent,
  LoginRequest,
  Member,
  MemberChange,
  MemberPage,
  NewApiToken,
  NewCluster,
  NewClusterServers,
  NewDomain,
  NewEnvironment,
  NewGitToken,
  NewNotificationConnector,
  NewPasskey,
  NewProject,
  NewProjectWebhook,
  NewServer,
  NewVariables,
  NotificationConnector,
  NotificationConnectorChange,
  NotificationConnectorList,
  NotificationDeliveryList,
  NotificationTest,
  Oidc,
  OidcAddress,
  OidcBeginRequest,
  OidcLink,
  OidcLinkRequest,
  Operation,
  OperationEvent,
  OperationList,
  Passkey,
  PasskeyChallenge,
  PasskeyChange,
  PasskeyRequest,
  Project,
  ProjectChange,
  ProjectDockerfile,
  ProjectList,
  ProjectNotificationLinks,
  ProjectNotifications,
  ProjectWebhook,
  Readiness,
  ReceivedDelivery,
  RecipientAnswer,
  RecoveryCodes,
  RefreshRequest,
  RegisterAnswer,
  RegisterRequest,
  RepositoryAnalysis,
  RepositoryList,
  ResetPasswordRequest,
  RestoreWish,
  RollbackRequest,
  RollingReboot,
  SavedServer,
  SecondFactorChallenge,
  SecondFactorNeeded,
  SecondFactorRequest,
  SecondFactors,
  Server,
  ServerChange,
  ServerLink,
  ServerList,
  ServerSecurity,
  ServiceCredentials,
  ServiceList,
  SessionList,
  SetVariables,
  SignIn,
  StreamTicket,
  TestMail,
  TotpCodeRequest,
  TotpSecret,
  TotpTurnedOn,
  UndoHardening,
  User,
  UserCodeRequest,
  Variable,
  VariableList,
  VerifyOtpRequest,
  WantedServices,
  WebhookDeliveryList,
  Workspace,
  WorkspaceChange,
  WorkspaceEvent,
  WorkspacePage,
  WorkspaceRequest,
} from './schemas.ts';

/** Nothing has to be said. */
export type None = Readonly<Record<string, never>>;

export interface Operations {
  /** Whether the process is alive. */
  getHealth(input?: None, options?: CallOptions): Promise<Health>;
  /** Create an account. Sends a code to the address. An address that has an account gets a mail that says so instead. Limited per address and network, and per e-mail; a device that has signed in before has a count of its own. */
  register(input: {
    readonly body: RegisterRequest;
  }, options?: CallOptions): Promise<RegisterAnswer>;
  /** Confirm the address with the code from the mail. Six digits, ten minutes, single use, five tries a code from one network, twenty from all. Limited per address and network, and per e-mail; a device that has signed in before has a count of its own. */
  verifyOtp(input: {
    readonly body: VerifyOtpRequest;
  }, options?: CallOptions): Promise<SignIn>;
  /** Ask for a fresh code. Answers the same for every address. While the code that was sent before can still be used, it is sent again. Limited per address and network, and per e-mail; a device that has signed in before has a count of its own. */
  resendOtp(input: {
    readonly body: EmailRequest;
  }, options?: CallOptions): Promise<undefined>;
  /** Sign in. Gives an access token of 15 minutes, and a refresh token of 30 days as a cookie or in the body. Where the account has a second factor: 202 with a challenge, which `POST /auth/login/second-factor` completes. Limited per address and network, and per e-mail; a device that has signed in before has a count of its own. */
  login(input: {
    readonly body: LoginRequest;
  }, options?: CallOptions): Promise<SignIn | SecondFactorNeeded>;
  /** Complete a sign-in with a second factor. With the challenge that `POST /auth/login` gave: within five minutes, with five tries, from the same program and network. Twenty wrong ones within an hour, over all challenges of the account, and none are taken until the hour is over or a new password is set. Limited per address and network, and per e-mail; a device that has signed in before has a count of its own. */
  loginWithSecondFactor(input: {
    readonly body: SecondFactorRequest;
  }, options?: CallOptions): Promise<SignIn>;
  /** The second factor that a sign-in at the provider waits for. For a browser that came back from single sign-on to `/sign-in?secondFactor=needed`: it has a cookie for this. Then as after `POST /auth/login`. */
  getSecondFactorChallenge(input?: None, options?: CallOptions): Promise<SecondFactorNeeded>;
  /** Trade the refresh token for a new pair of tokens. Each refresh token works once; one that comes back after it was spent ends its session. */
  refresh(input?: {
    readonly body?: RefreshRequest | undefined;
  }, options?: CallOptions): Promise<SignIn>;
  /** End this session. */
  logout(input?: None, options?: CallOptions): Promise<undefined>;
  /** Your own profile. With an API token: that of its maker, with the workspace that the token is for. */
  getMe(input?: None, options?: CallOptions): Promise<User>;
  /** Ask for a link to set a new password. Answers the same for every address. Limited per address and network, and per e-mail; a device that has signed in before has a count of its own. */
  forgotPassword(input: {
    readonly body: EmailRequest;
  }, options?: CallOptions): Promise<undefined>;
  /** Set a new password with the token from the mail. Ends every session of the account. The token works once, for 30 minutes. Limited per address and network, and per e-mail; a device that has signed in before has a count of its own. */
  resetPassword(input: {
    readonly body: ResetPasswordRequest;
  }, options?: CallOptions): Promise<undefined>;
  /** Get a ticket for a stream. For clients that cannot send a header, such as `EventSource`: one use, 30 seconds. */
  createStreamTicket(input?: None, options?: CallOptions): Promise<StreamTicket>;
  /** List your live sessions. */
  listSessions(input?: {
    /** How many; 50 if not said. */
    readonly limit?: number | undefined;
    /** `nextCursor` of the page before. */
    readonly cursor?: string | undefined;
  }, options?: CallOptions): Promise<SessionList>;
  /** End all your sessions but this one. API tokens stay: they are revoked one by one. */
  endOtherSessions(input?: None, options?: CallOptions): Promise<undefined>;
  /** End one of your sessions. */
  endSession(input: {
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<undefined>;
  /** Your second factors. */
  getSecondFactors(input?: None, options?: CallOptions): Promise<SecondFactors>;
  /** Begin to use an authenticator app. Gives the secret for the app. It counts once its first code was sent with `POST /auth/totp/confirm`, within an hour; until then nothing changes. Where an app is on already, the new one then takes its place. */
  startTotp(input?: None, options?: CallOptions): Promise<TotpSecret>;
  /** Turn the authenticator app off. With the last second factor the recovery codes go, too. */
  deleteTotp(input?: None, options?: CallOptions): Promise<undefined>;
  /** Turn the authenticator app on, with its first code. From now on a sign-in asks for a second factor. With the first one you are given recovery codes, and your other sessions end: they were opened with the password alone. Limited per address and network, and per e-mail; a device that has signed in before has a count of its own. */
  verifyTotp(input: {
    readonly body: TotpCodeRequest;
  }, options?: CallOptions): Promise<TotpTurnedOn>;
  /** Get new recovery codes. Those before work no more. */
  createRecoveryCodes(input?: None, options?: CallOptions): Promise<RecoveryCodes>;
  /** Begin to register a passkey. Gives what the browser needs to make one. */
  startPasskey(input?: None, options?: CallOptions): Promise<PasskeyChallenge>;
  /** Register a passkey. As a second factor. With the first one come recovery codes, and your other sessions end. Limited per address and network, and per e-mail; a device that has signed in before has a count of its own. */
  createPasskey(input: {
    readonly body: PasskeyRequest;
  }, options?: CallOptions): Promise<NewPasskey>;
  /** Rename a passkey. */
  updatePasskey(input: {
    /** Of what the path names before it. */
    readonly id: string;
    readonly body: PasskeyChange;
  }, options?: CallOptions): Promise<Passkey>;
  /** Remove a passkey. With the last second factor the recovery codes go, too. */
  deletePasskey(input: {
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<undefined>;
  /** Prove again that it is you. What hands out secrets, and what weakens the protection of an account, a workspace or the installation (`x-fresh-proof`), asks for a proof that was given in this session within ten minutes (`fresh_proof_required`). A sign-in is one. With the password, or where the account has a second factor with that. Limited per address and network, and per e-mail; a device that has signed in before has a count of its own. */
  verifyPassword(input: {
    readonly body: ConfirmRequest;
  }, options?: CallOptions): Promise<undefined>;
  /** Get a challenge for a passkey, to prove again that it is you. Also tells what else can be proven with. A code is sent without it. Limited per address and network, and per e-mail; a device that has signed in before has a count of its own. */
  createConfirmChallenge(input?: None, options?: CallOptions): Promise<SecondFactorChallenge>;
  /** Whether people can sign in by OpenID Connect, and what that is called. */
  getOidc(input?: None, options?: CallOptions): Promise<Oidc>;
  /** Begin to sign in at the provider. Gives the address to send the browser to, and a cookie that it must come back with. A link to `GET /api/v1/auth/oidc/begin?returnTo=/` does the same and goes there. Whoever comes back is signed in as by `POST /auth/login`, with the refresh token as a cookie; `POST /auth/refresh` gives an access token. Where the account has a second factor, the browser is sent to `/sign-in?secondFactor=needed` instead, and `GET /auth/login/second-factor` gives the challenge. Limited per address and network, and per e-mail; a device that has signed in before has a count of its own. */
  startOidc(input?: {
    readonly body?: OidcBeginRequest | undefined;
  }, options?: CallOptions): Promise<OidcAddress>;
  /** Whom your account is linked with at the provider. */
  getOidcLink(input?: None, options?: CallOptions): Promise<OidcLink>;
  /** Begin to link your account with the provider. Send the browser to `url`; when it is back, your account can be signed in to that way, too. An account is linked by its owner alone, never because an address is the same. Limited per address and network, and per e-mail; a device that has signed in before has a count of its own. */
  startOidcLink(input?: {
    readonly body?: OidcLinkRequest | undefined;
  }, options?: CallOptions): Promise<OidcAddress>;
  /** Unlink your account from the provider. Roles that groups at the provider gave you go with it. Refused while your account has no password. */
  deleteOidcLink(input?: None, options?: CallOptions): Promise<undefined>;
  /** Begin to prove again that it is you, at the provider. What `POST /auth/confirm` does with a password: the provider is asked to have you sign in anew, and has to say when you did. Refused where the account has a second factor that the provider did not ask for: that is the proof. Send the browser to `url`. Limited per address and network, and per e-mail; a device that has signed in before has a count of its own. */
  startOidcConfirm(input?: {
    readonly body?: OidcLinkRequest | undefined;
  }, options?: CallOptions): Promise<OidcAddress>;
  /** Ask to be signed in by a browser. For programs without a browser of their own (RFC 8628). Show the person `verificationUri` and `userCode`, then look with `POST /auth/login/device-code` until they have answered: within ten minutes. Limited per address and network, and per e-mail; a device that has signed in before has a count of its own. */
  createDeviceCode(input: {
    readonly body: DeviceCodeRequest;
  }, options?: CallOptions): Promise<DeviceCode>;
  /** Sign in with a device code, once it was allowed. 202 while nobody has answered: look again after `interval` seconds. The tokens are given once, to the program and network that asked for the code. */
  loginWithDeviceCode(input: {
    readonly body: DeviceLoginRequest;
  }, options?: CallOptions): Promise<SignIn | DeviceLoginPending>;
  /** See what asks to be signed in with a code. To be shown before `POST /auth/device-codes/answer`. Name and program are what it says of itself. Limited per address and network, and per e-mail; a device that has signed in before has a count of its own. */
  verifyUserCode(input: {
    readonly body: UserCodeRequest;
  }, options?: CallOptions): Promise<DeviceRequest>;
  /** Allow or refuse a program that asks to be signed in. Allowed, it gets a session of yours: all that you can do, it can, until the session ends. Once; what was answered stays so. Limited per address and network, and per e-mail; a device that has signed in before has a count of its own. */
  answerDeviceCode(input: {
    readonly body: DeviceAnswerRequest;
  }, options?: CallOptions): Promise<undefined>;
  /** Make an API token. For programs: sent as `Authorization: Bearer`, like an access token. It can do no more than its abilities, and no more than you at that moment; it ends when you leave the workspace. For a CI: `{"abilities": ["deploy"], "projectId": …}`. */
  createApiToken(input: {
    readonly body: ApiTokenRequest;
  }, options?: CallOptions): Promise<NewApiToken>;
  /** List your API tokens. Whoever may `manage` the workspace sees those of all its members. */
  listApiTokens(input?: {
    /** How many; 50 if not said. */
    readonly limit?: number | undefined;
    /** `nextCursor` of the page before. */
    readonly cursor?: string | undefined;
  }, options?: CallOptions): Promise<ApiTokenPage>;
  /** Revoke an API token. It is refused from then on, and the streams that it has open end at once. */
  deleteApiToken(input: {
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<undefined>;
  /** List the operations of your workspace. */
  listOperations(input?: {
    /** How many; 50 if not said. */
    readonly limit?: number | undefined;
    /** `nextCursor` of the page before. */
    readonly cursor?: string | undefined;
  }, options?: CallOptions): Promise<OperationList>;
  /** One operation, with its steps. */
  getOperation(input: {
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<Operation>;
  /** Cancel an operation. It stops what it does and undoes what it did; it is cancelled when its status says so. */
  cancelOperation(input: {
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<Operation>;
  /** Follow an operation. From the beginning, unless `Last-Event-ID` or `after` says otherwise; `end` is the last event. */
  followOperation(input: {
    /** Begin after this position, as `Last-Event-ID` does. */
    readonly after?: string | undefined;
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): EventStream<OperationEvent>;
  /** Follow everything that happens in your workspace. From now on, unless `Last-Event-ID` or `after` says otherwise. Whoever is limited to some projects gets the events that have a `projectId` of theirs. */
  followEvents(input?: {
    /** Begin after this position, as `Last-Event-ID` does. */
    readonly after?: string | undefined;
  }, options?: CallOptions): EventStream<WorkspaceEvent>;
  /** Register a server. With `generated`, install the `publicKey` of the answer for the user; the server is provisioned once it lets us in. With `password`, the server is logged in to at once, a key of ours is installed, and the password forgotten. A machine that another record has, of any workspace, is not worked on: the server stays `pending` with the problem `server_taken`. Takes an `Idempotency-Key`. */
  registerServer(input: {
    readonly body: NewServer;
  }, options?: CallOptions): Promise<Server>;
  /** List your servers. */
  listServers(input?: {
    /** How many; 50 if not said. */
    readonly limit?: number | undefined;
    /** `nextCursor` of the page before. */
    readonly cursor?: string | undefined;
  }, options?: CallOptions): Promise<ServerList>;
  /** One server. */
  getServer(input: {
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<Server>;
  /** Change a server, or accept its new host key. A server that is reached another way is looked at anew; its pinned host key stays, unless `acceptHostKey` names another. */
  updateServer(input: {
    /** Of what the path names before it. */
    readonly id: string;
    readonly body?: ServerChange | undefined;
  }, options?: CallOptions): Promise<Server>;
  /** Delete a server. Takes away what Slipway put on it, as an operation: containers, networks, the proxy, units and our key. With `leave=true` the server is not touched and only forgotten, which also works when it is gone for good. */
  deleteServer(input: {
    /** Forget it without touching it. */
    readonly leave?: boolean | undefined;
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<Operation | undefined>;
  /** Make a server ready, again. Installs Docker where it is missing, makes our folders and network, and starts the proxy. Begins by itself on registration; a second run changes nothing. Takes an `Idempotency-Key`. */
  provisionServer(input: {
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<Operation>;
  /** Test the connection to a server, saved or not. One `step` after the other, then one `result`, and `end`. An address where no server may stand (`SLIPWAY_SERVER_NETWORKS`) ends it at `resolve`, before anything is sent there. Changes nothing on the server; what is not saved is not stored. */
  testConnection(input: {
    readonly body: SavedServer | NewServer;
  }, options?: CallOptions): EventStream<ConnectionTestEvent>;
  /** The security state of a server. As it was last seen; `refresh=true` looks again first. What could not be read is `unknown`, never a pass. */
  getServerSecurity(input: {
    /** Look again before answering. */
    readonly refresh?: boolean | undefined;
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<ServerSecurity>;
  /** Harden a server, or show what that would do. With `dryRun`, answers with the plan: every file as a diff, every command, every package. Without, runs exactly such a plan. Before each step that could lock you out a timer is set on the server itself, which undoes the step unless a new login has proven it. Takes an `Idempotency-Key`. */
  hardenServer(input: {
    /** Of what the path names before it. */
    readonly id: string;
    readonly body?: HardenServer | undefined;
  }, options?: CallOptions): Promise<HardeningPlan | Operation>;
  /** Undo a hardening. Brings back every byte, mode and owner that the hardening changed. Refuses, as a fault of the operation, where someone has changed a file since. Takes an `Idempotency-Key`. */
  undoHardening(input: {
    /** Of what the path names before it. */
    readonly id: string;
    readonly body: UndoHardening;
  }, options?: CallOptions): Promise<Operation>;
  /** Make a cluster of servers. A Docker Swarm of these servers, as the operation `cluster_join`: they are checked (no other swarm, one architecture, clocks, a way to each other on the ports of Swarm), the ports are opened for members alone, and they join. What fails takes all of them out again. Takes an `Idempotency-Key`. */
  createCluster(input: {
    readonly body: NewCluster;
  }, options?: CallOptions): Promise<Cluster>;
  /** List your clusters. */
  listClusters(input?: {
    /** How many; 50 if not said. */
    readonly limit?: number | undefined;
    /** `nextCursor` of the page before. */
    readonly cursor?: string | undefined;
  }, options?: CallOptions): Promise<ClusterList>;
  /** One cluster, with its members and what its managers can stand. As it was seen at `checkedAt`; it is looked at every minute, and after each operation. */
  getCluster(input: {
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<Cluster>;
  /** Rename a cluster. */
  updateCluster(input: {
    /** Of what the path names before it. */
    readonly id: string;
    readonly body: ClusterChange;
  }, options?: CallOptions): Promise<Cluster>;
  /** Delete a cluster. All of its servers leave the swarm, as an operation, and are servers on their own afterwards. With `lost=true`, those that do not answer are only forgotten. */
  deleteCluster(input: {
    /** Those that do not answer are gone for good: they are only forgotten. */
    readonly lost?: boolean | undefined;
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<Operation | undefined>;
  /** Add servers to a cluster. As the operation `cluster_join`, with the same checks as for a new cluster. Which servers are managers is settled with it. Takes an `Idempotency-Key`. */
  createClusterMembers(input: {
    /** Of what the path names before it. */
    readonly id: string;
    readonly body: NewClusterServers;
  }, options?: CallOptions): Promise<Operation>;
  /** Take a server out of a cluster. As the operation `cluster_leave`: it is emptied, replaced as a manager where it is one, leaves the swarm, and is as it was before it joined. With `lost=true` it is gone for good, and only taken off the list. */
  deleteClusterMember(input: {
    /** Those that do not answer are gone for good: they are only forgotten. */
    readonly lost?: boolean | undefined;
    /** Of the cluster. */
    readonly id: string;
    /** Of a server in it. */
    readonly serverId: string;
  }, options?: CallOptions): Promise<Operation>;
  /** Reboot all servers of a cluster, one after the other. As the operation `cluster_reboot`, the leader last: each is emptied, updated, rebooted, and back in use before the next. Where one does not come back, the others are left as they are. Takes an `Idempotency-Key`. */
  rebootCluster(input: {
    /** Of what the path names before it. */
    readonly id: string;
    readonly body?: RollingReboot | undefined;
  }, options?: CallOptions): Promise<Operation>;
  /** Empty a server of a cluster. What runs there is run elsewhere, and nothing is placed on it until it is activated: for an update, or a reboot. The operation ends when the server is empty. Takes an `Idempotency-Key`. */
  drainClusterMember(input: {
    /** Of the cluster. */
    readonly id: string;
    /** Of a server in it. */
    readonly serverId: string;
  }, options?: CallOptions): Promise<Operation>;
  /** Take a server of a cluster back into use. After it was drained. What runs elsewhere stays there. Takes an `Idempotency-Key`. */
  activateClusterMember(input: {
    /** Of the cluster. */
    readonly id: string;
    /** Of a server in it. */
    readonly serverId: string;
  }, options?: CallOptions): Promise<Operation>;
  /** Connect a Git account. The token is checked with the provider before it is kept. A new token of an account that is connected takes the old one’s place (200), and everything that uses the account goes on. Takes an `Idempotency-Key`. */
  saveGitToken(input: {
    readonly body: NewGitToken;
  }, options?: CallOptions): Promise<GitProvider>;
  /** List your Git accounts. */
  listGitProviders(input?: {
    /** How many; 50 if not said. */
    readonly limit?: number | undefined;
    /** `nextCursor` of the page before. */
    readonly cursor?: string | undefined;
  }, options?: CallOptions): Promise<GitProviderList>;
  /** One Git account. */
  getGitProvider(input: {
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<GitProvider>;
  /** Disconnect a Git account. Refused while projects are read with it, unless `force=true`. Revoke the token at the provider too. */
  disconnectGitProvider(input: {
    /** Also where projects use it. */
    readonly force?: boolean | undefined;
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<undefined>;
  /** Search the repositories of all your Git accounts. Better matches first, then the newest push. What an account can reach is kept for a minute, so that a search per letter asks the provider once. */
  searchRepositories(input?: {
    /** How many; 50 if not said. */
    readonly limit?: number | undefined;
    /** `nextCursor` of the page before. */
    readonly cursor?: string | undefined;
    /** Words that the name must have, owner included; case does not matter. */
    readonly q?: string | undefined;
    readonly providerId?: string | undefined;
  }, options?: CallOptions): Promise<RepositoryList>;
  /** List the branches of a repository. */
  listBranches(input: {
    /** How many; 50 if not said. */
    readonly limit?: number | undefined;
    /** `nextCursor` of the page before. */
    readonly cursor?: string | undefined;
    /** Part of the name. */
    readonly q?: string | undefined;
    readonly providerId: string;
    /** `owner%2Fname`, or the provider’s numeric id. */
    readonly repo: string;
  }, options?: CallOptions): Promise<BranchList>;
  /** Create a project from a repository. The analysis begins at once. A repository by an ssh address gets a `deployKey`: add it there, then retry the analysis. Takes an `Idempotency-Key`. */
  createProject(input: {
    readonly body: NewProject;
  }, options?: CallOptions): Promise<Project>;
  /** List your projects. */
  listProjects(input?: {
    /** How many; 50 if not said. */
    readonly limit?: number | undefined;
    /** `nextCursor` of the page before. */
    readonly cursor?: string | undefined;
  }, options?: CallOptions): Promise<ProjectList>;
  /** Analyse a repository without making a project. With `providerId` and `repo`, or with `url`. The answer is what a project’s analysis would say. */
  analyzeRepository(input?: {
    readonly providerId?: string | undefined;
    /** `owner/name`, or the provider’s numeric id. */
    readonly repo?: string | undefined;
    /** Of a public repository over https, or of any over ssh: then add the `deployKey` of the answer to it. */
    readonly url?: string | undefined;
    readonly branch?: string | undefined;
    /** The folder to look at; the root of the repository if not said. */
    readonly rootDirectory?: string | undefined;
  }, options?: CallOptions): Promise<RepositoryAnalysis>;
  /** One project. */
  getProject(input: {
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<Project>;
  /** Change a project. What is absent stays. Another branch or folder is analysed anew. */
  updateProject(input: {
    /** Of what the path names before it. */
    readonly id: string;
    readonly body?: ProjectChange | undefined;
  }, options?: CallOptions): Promise<Project>;
  /** Delete a project. With everything that belongs to it, on the servers too, as an operation. Where there is data, `deleteData` has to say what becomes of it. */
  deleteProject(input: {
    /** Whether volumes are deleted too. Must be said where there is data. */
    readonly deleteData?: boolean | undefined;
    /** Forgets it also where its server cannot be reached; what is there stays there. */
    readonly force?: boolean | undefined;
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<Operation>;
  /** Analyse the repository again. The last result stays until there is a new one. Takes an `Idempotency-Key`. */
  retryAnalysis(input: {
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<Project>;
  /** Take over the analysis, with corrections, and make the first environment. Secrets that only have to be random are made, unless given. With `deploy` the first deployment begins at once. Takes an `Idempotency-Key`. */
  finalizeProject(input: {
    /** Of what the path names before it. */
    readonly id: string;
    readonly body: Finalization;
  }, options?: CallOptions): Promise<FinalizedProject>;
  /** The Dockerfile that an app is built with. Its own where it has one; else the one that is written for it, which you may take over into the repository. */
  getDockerfile(input: {
    /** The `path` of the app; needed where there are several. */
    readonly app?: string | undefined;
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<ProjectDockerfile>;
  /** Follow the analysis of a project. From the beginning of the newest analysis, unless `Last-Event-ID` or `after` says otherwise; `end` is the last event. */
  followAnalysis(input: {
    /** Begin after this position, as `Last-Event-ID` does. */
    readonly after?: string | undefined;
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): EventStream<AnalysisEvent>;
  /** Have pushes told to us. Made at the provider where the account’s token may; else paste `address` and `secret` in there, as JSON, for pushes. Asked again, it gets a new secret at the same address. Takes an `Idempotency-Key`; the secret is in the first answer only. */
  installWebhook(input: {
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<NewProjectWebhook>;
  /** The webhook of a project. */
  getWebhook(input: {
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<ProjectWebhook>;
  /** What arrived for a project, and what became of it. */
  listWebhookDeliveries(input: {
    /** How many; 50 if not said. */
    readonly limit?: number | undefined;
    /** `nextCursor` of the page before. */
    readonly cursor?: string | undefined;
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<WebhookDeliveryList>;
  /** Create an environment of a project. Of a project that has been finalised. Secrets that only have to be random are made, unless given. Nothing is deployed yet. Takes an `Idempotency-Key`. */
  createEnvironment(input: {
    readonly body: NewEnvironment;
  }, options?: CallOptions): Promise<Environment>;
  /** List your environments. */
  listEnvironments(input?: {
    /** Only those of this project. */
    readonly projectId?: string | undefined;
    /** How many; 50 if not said. */
    readonly limit?: number | undefined;
    /** `nextCursor` of the page before. */
    readonly cursor?: string | undefined;
  }, options?: CallOptions): Promise<EnvironmentList>;
  /** One environment. */
  getEnvironment(input: {
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<Environment>;
  /** Change an environment. What is absent stays; a setting that is given is replaced as a whole. Nothing is deployed: `needs` says what the change needs to be in effect. */
  updateEnvironment(input: {
    /** Of what the path names before it. */
    readonly id: string;
    readonly body?: EnvironmentChange | undefined;
  }, options?: CallOptions): Promise<ChangedEnvironment>;
  /** Delete an environment. Deployments of it are cancelled, everything of it is taken off its server, then it is forgotten. Where it has data, `deleteData` has to say what becomes of that. */
  deleteEnvironment(input: {
    /** Whether volumes are deleted too. Must be said where there is data. */
    readonly deleteData?: boolean | undefined;
    /** Forgets it also where its server cannot be reached; what is there stays there. */
    readonly force?: boolean | undefined;
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<Operation>;
  /** Change the branch of an environment. The branch has to exist. What runs stays; with auto-deploy on, the newest commit of the branch is deployed with the next look at the repository. */
  setBranch(input: {
    /** Of what the path names before it. */
    readonly id: string;
    readonly body: BranchChange;
  }, options?: CallOptions): Promise<Environment>;
  /** Link an environment to a server or a cluster. One that runs elsewhere moves: 202 with the deployment that brings it there, while the old server serves on. Data of services and volumes does not move: with some of it elsewhere, `leaveData` has to say that it may stay there. */
  linkServer(input: {
    /** Of what the path names before it. */
    readonly id: string;
    readonly body?: ServerLink | undefined;
  }, options?: CallOptions): Promise<LinkedEnvironment>;
  /** Deploy on push, or no longer. Switching it on deploys nothing by itself: the commit that is the newest now counts as known. The webhook is made at the provider where it lets us; else polling finds pushes. */
  setAutoDeploy(input: {
    /** Of what the path names before it. */
    readonly id: string;
    readonly body: AutoDeploy;
  }, options?: CallOptions): Promise<AutoDeployEnvironment>;
  /** Add or change variables. Those that are not named stay. A secret one is never shown again. Nothing is deployed: `needs` says what the change needs to be in effect. Takes an `Idempotency-Key`. */
  setVariables(input: {
    /** Of what the path names before it. */
    readonly id: string;
    readonly body: NewVariables;
  }, options?: CallOptions): Promise<SetVariables>;
  /** List the variables of an environment. Of a secret one there is no value, only when it last changed. */
  listVariables(input: {
    /** How many; 50 if not said. */
    readonly limit?: number | undefined;
    /** `nextCursor` of the page before. */
    readonly cursor?: string | undefined;
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<VariableList>;
  /** One variable. */
  getVariable(input: {
    /** Of what the path names before it. */
    readonly id: string;
    readonly key: string;
  }, options?: CallOptions): Promise<Variable>;
  /** Take a variable away. */
  deleteVariable(input: {
    /** Of what the path names before it. */
    readonly id: string;
    readonly key: string;
  }, options?: CallOptions): Promise<ChangeNeeds>;
  /** Deploy an environment. The newest commit of its branch, unless another is named. One deployment at a time is at work in an environment; one that waits is overtaken by this one (`superseded`). Takes an `Idempotency-Key`. */
  deploy(input: {
    /** Of what the path names before it. */
    readonly id: string;
    readonly body?: DeployRequest | undefined;
  }, options?: CallOptions): Promise<Deployment>;
  /** The deployments of an environment. */
  listDeployments(input: {
    /** How many; 50 if not said. */
    readonly limit?: number | undefined;
    /** `nextCursor` of the page before. */
    readonly cursor?: string | undefined;
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<DeploymentList>;
  /** One deployment, with its plan and its health checks. */
  getDeployment(input: {
    /** Of what the path names before it. */
    readonly id: string;
    /** Of the deployment. */
    readonly did: string;
  }, options?: CallOptions): Promise<Deployment>;
  /** Cancel a deployment. It stops what it does on the server and takes away what it made there; the release before goes on serving. It is cancelled when its status says so. */
  cancelDeployment(input: {
    /** Of what the path names before it. */
    readonly id: string;
    /** Of the deployment. */
    readonly did: string;
  }, options?: CallOptions): Promise<Deployment>;
  /** Put the release of an earlier deployment back. Without a build: the image is kept on the server for the newest five. An older one is built once more. Takes an `Idempotency-Key`. */
  rollBackDeployment(input: {
    /** Of what the path names before it. */
    readonly id: string;
    /** Of the deployment. */
    readonly did: string;
    readonly body?: RollbackRequest | undefined;
  }, options?: CallOptions): Promise<Deployment>;
  /** What a deployment printed. Oldest first. Secrets are taken out before a line is stored. */
  getDeploymentLogs(input: {
    /** How many; 500 if not said. */
    readonly limit?: number | undefined;
    /** `nextCursor` of the page before. */
    readonly cursor?: string | undefined;
    /** Of what the path names before it. */
    readonly id: string;
    /** Of the deployment. */
    readonly did: string;
  }, options?: CallOptions): Promise<DeploymentLogs>;
  /** Follow a deployment. From the beginning, unless `Last-Event-ID` or `after` says otherwise; `end` is the last event. */
  followDeployment(input: {
    /** Begin after this position, as `Last-Event-ID` does. */
    readonly after?: string | undefined;
    /** Of what the path names before it. */
    readonly id: string;
    /** Of the deployment. */
    readonly did: string;
  }, options?: CallOptions): EventStream<DeploymentEvent>;
  /** Stop an environment. Visitors get 503 at once, requests in flight are finished, then its containers and services stop. Its data and its releases stay. Takes an `Idempotency-Key`. */
  stopEnvironment(input: {
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<Operation>;
  /** Start an environment again. Its current release, without a build. Takes an `Idempotency-Key`. */
  startEnvironment(input: {
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<Operation>;
  /** Follow the lines of the running app. New containers are followed as they come. Secrets are shown as `[secret]`. At most 10 streams of an environment at once. */
  followLogs(input: {
    /** So many of the last lines first; 100 if not said. */
    readonly tail?: number | undefined;
    /** Of this process only. */
    readonly process?: string | undefined;
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): EventStream<LogEvent>;
  /** Read the state of the app’s containers. As they are on the server at this moment. */
  listContainers(input: {
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<Containers>;
  /** Say which services an environment has. The wanted whole. A service that is there and not in it has to be named in `remove`, or nothing is changed. Its data stays, and is taken up again by a service of the same kind and name, until it is deleted with `deleteData`. A version that could not read the data is refused. Credentials are made by us and given to the application alone: each service has `<NAME>_URL` (`main-db` has `MAIN_DB_URL`) and the names of its kind (`DATABASE_URL`, `POSTGRES_URL`, `MYSQL_URL`, `MARIADB_URL`, `MONGODB_URL`, `MONGO_URL`, `REDIS_URL`), each as far as no service that was made earlier has it. 202 with an operation where the environment stands on a server; otherwise they start with its first deployment. Takes an `Idempotency-Key`. */
  setServices(input: {
    /** Of what the path names before it. */
    readonly id: string;
    readonly body: WantedServices;
  }, options?: CallOptions): Promise<ChangedServices>;
  /** The services of an environment. Also those that were removed and whose data is still there: they have `removedAt`. */
  listServices(input: {
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<ServiceList>;
  /** Read how the application reaches a service. Its URL, with user and password; each reading is in the audit log. The host in it is one of the environment’s network alone: `GET /api/v1/environments/:id/services/:sid/tunnel` with `Upgrade: tcp` becomes a connection to it, and `slipway connect` opens a database so. */
  getServiceCredentials(input: {
    /** Of what the path names before it. */
    readonly id: string;
    /** Of the service. */
    readonly sid: string;
  }, options?: CallOptions): Promise<ServiceCredentials>;
  /** Register a domain. Put the record of `verification` into its zone, then verify it. The proof of a domain is good for every name below it. Takes an `Idempotency-Key`. */
  registerDomain(input: {
    readonly body: NewDomain;
  }, options?: CallOptions): Promise<Domain>;
  /** List your domains. */
  listDomains(input?: {
    /** How many; 50 if not said. */
    readonly limit?: number | undefined;
    /** `nextCursor` of the page before. */
    readonly cursor?: string | undefined;
  }, options?: CallOptions): Promise<DomainList>;
  /** One domain, with what was seen of it last. */
  getDomain(input: {
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<Domain>;
  /** Delete a domain. Refused while names under it lead to environments. */
  deleteDomain(input: {
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<undefined>;
  /** Look at a domain now. Asks the zone’s own name servers and resolvers, and says in `lastCheck.findings` what they answer: what is missing, wrong, or not known everywhere yet. While it is not verified it is looked at again by itself. */
  verifyDomain(input: {
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<Domain>;
  /** Lead a name to an environment, with TLS. A name that it has already is changed. With `auto` a certificate is asked for at once and renewed 30 days ahead; until there is one, the name is served over http. Where the environment stands on a server, a new name whose DNS is wrong is refused with `dns_wrong` and what was found; with `force` it is connected all the same, and its certificate is tried for until DNS is right. Takes an `Idempotency-Key`. */
  connectDomain(input: {
    /** Connect it although its DNS is wrong, and keep trying for a certificate. */
    readonly force?: boolean | undefined;
    /** Of what the path names before it. */
    readonly id: string;
    readonly body?: DomainOfEnvironment | undefined;
  }, options?: CallOptions): Promise<ConnectingDomain>;
  /** The names that lead to an environment, with their certificates. */
  listEnvironmentDomains(input: {
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<ConnectedDomainList>;
  /** One name of an environment. */
  getEnvironmentDomain(input: {
    /** Of what the path names before it. */
    readonly id: string;
    /** Of the name, as the environment lists it. */
    readonly domainId: string;
  }, options?: CallOptions): Promise<ConnectedDomain>;
  /** Take a name away from an environment. Its certificate is revoked where it came from the authority. */
  disconnectDomain(input: {
    /** Of what the path names before it. */
    readonly id: string;
    /** Of the name, as the environment lists it. */
    readonly domainId: string;
  }, options?: CallOptions): Promise<undefined>;
  /** List all backups of your workspace. Also those of environments that were deleted without their data. */
  listAllBackups(input?: {
    /** How many; 50 if not said. */
    readonly limit?: number | undefined;
    /** `nextCursor` of the page before. */
    readonly cursor?: string | undefined;
  }, options?: CallOptions): Promise<BackupList>;
  /** List the backups of an environment. With the storage they take, and when the next one is made. */
  listBackups(input: {
    /** How many; 50 if not said. */
    readonly limit?: number | undefined;
    /** `nextCursor` of the page before. */
    readonly cursor?: string | undefined;
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<EnvironmentBackupList>;
  /** Make a backup now. Of one service, or of every service and every volume. It is stored, then restored into a throw-away container and compared; only then it has succeeded. Takes an `Idempotency-Key`. */
  triggerBackup(input: {
    /** Of what the path names before it. */
    readonly id: string;
    readonly body?: BackupWish | undefined;
  }, options?: CallOptions): Promise<Backup>;
  /** When backups are made by themselves, and where they go. */
  getBackupConfig(input: {
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<BackupConfig>;
  /** Say when backups are made, where they go, and how long they stay. What is not named stays as it was. A destination is tried before it is taken: something is written, read and removed there. Backups that are there stay where they lie. A backup goes only where both `keepLast` and `keepDays` allow it; the last good one and the last verified one never go. */
  updateBackupConfig(input: {
    /** Of what the path names before it. */
    readonly id: string;
    readonly body?: BackupConfigChange | undefined;
  }, options?: CallOptions): Promise<BackupConfig>;
  /** One backup, with its parts. */
  getBackup(input: {
    /** Of what the path names before it. */
    readonly id: string;
    /** Of the backup. */
    readonly bid: string;
  }, options?: CallOptions): Promise<Backup>;
  /** Delete a backup. With everything of it at its destination. The last good one needs `force`. */
  deleteBackup(input: {
    /** Also where it is the last good one. */
    readonly force?: boolean | undefined;
    /** Of what the path names before it. */
    readonly id: string;
    /** Of the backup. */
    readonly bid: string;
  }, options?: CallOptions): Promise<undefined>;
  /** Restore a backup. The backup is fetched and proven, what is there now is backed up, the copy is loaded beside it, and only then the application is stopped for a moment (visitors get 503 with `Retry-After`), the two change places, and it is started again. Where anything fails, the old data serves on. What was replaced is kept beside for some days. Takes an `Idempotency-Key`. */
  restoreBackup(input: {
    /** Of what the path names before it. */
    readonly id: string;
    /** Of the backup. */
    readonly bid: string;
    readonly body?: RestoreWish | undefined;
  }, options?: CallOptions): Promise<Operation>;
  /** Download a dump. Of one part, compressed by zstd, and not encrypted any more. `X-Content-SHA256` has its sum. Where it turns out to be damaged, the connection is broken before the last bytes. */
  downloadBackup(input: {
    /** Needed where the backup has several parts. */
    readonly partId?: string | undefined;
    /** Of what the path names before it. */
    readonly id: string;
    /** Of the backup. */
    readonly bid: string;
  }, options?: CallOptions): Promise<Response>;
  /** List your notification connectors. */
  listNotificationConnectors(input?: {
    /** How many; 50 if not said. */
    readonly limit?: number | undefined;
    /** `nextCursor` of the page before. */
    readonly cursor?: string | undefined;
  }, options?: CallOptions): Promise<NotificationConnectorList>;
  /** Create a notification connector. Secrets inside `config` are sealed and never returned. It hears of what concerns the workspace at once; of projects once it is linked to them, or with `allProjects`. Recipients of mail who are no members of the workspace are asked first, by one mail each; `recipients` shows who has agreed. Takes an `Idempotency-Key`. */
  createNotificationConnector(input: {
    readonly body: NewNotificationConnector;
  }, options?: CallOptions): Promise<CreatedNotificationConnector>;
  /** One notification connector. */
  getNotificationConnector(input: {
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<NotificationConnector>;
  /** Change a notification connector, or switch it on or off. */
  updateNotificationConnector(input: {
    /** Of what the path names before it. */
    readonly id: string;
    readonly body?: NotificationConnectorChange | undefined;
  }, options?: CallOptions): Promise<NotificationConnector>;
  /** Delete a notification connector. With its links and the list of its deliveries. What waits to be sent by it is not sent. */
  deleteNotificationConnector(input: {
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<undefined>;
  /** Send a test message now. Sends a real message, once, and says exactly what the receiver answered. That it was not delivered is an answer too, not an error. Recipients who have not agreed get none. Takes an `Idempotency-Key`. */
  testNotificationConnector(input: {
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<NotificationTest>;
  /** Agree to mail of a workspace, or decline it. For recipients of mail who are no members of the workspace, with the token of the mail that asked them. It works once, for seven days. Limited per address and network, and per e-mail; a device that has signed in before has a count of its own. */
  answerNotificationRecipient(input: {
    readonly body: RecipientAnswer;
  }, options?: CallOptions): Promise<undefined>;
  /** What went out by a connector, and what became of it. */
  listNotificationDeliveries(input: {
    /** How many; 50 if not said. */
    readonly limit?: number | undefined;
    /** `nextCursor` of the page before. */
    readonly cursor?: string | undefined;
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<NotificationDeliveryList>;
  /** The connectors that are linked to a project. */
  getProjectNotifications(input: {
    readonly projectId: string;
  }, options?: CallOptions): Promise<ProjectNotificationLinks>;
  /** Link connectors to a project. Replaces the links of the project: those that are not named hear of it no more. */
  linkNotificationConnectors(input: {
    readonly projectId: string;
    readonly body: ProjectNotifications;
  }, options?: CallOptions): Promise<ProjectNotificationLinks>;
  /** List the workspaces that you are in. */
  listWorkspaces(input?: {
    /** How many; 50 if not said. */
    readonly limit?: number | undefined;
    /** `nextCursor` of the page before. */
    readonly cursor?: string | undefined;
  }, options?: CallOptions): Promise<WorkspacePage>;
  /** Make a workspace. You are its owner. Calls are about it when the header `Slipway-Workspace` names it. */
  createWorkspace(input: {
    readonly body: WorkspaceRequest;
  }, options?: CallOptions): Promise<Workspace>;
  /** One workspace, with what you are in it. */
  getWorkspace(input: {
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<Workspace>;
  /** Rename a workspace, or require a second factor in it. The second is for owners, who must have a second factor themselves. It holds at once: for members without one everything here is `second_factor_missing`, but the workspace itself and leaving it; so it is for API tokens that they made. */
  updateWorkspace(input: {
    /** Of what the path names before it. */
    readonly id: string;
    readonly body?: WorkspaceChange | undefined;
  }, options?: CallOptions): Promise<Workspace>;
  /** Delete a workspace with everything in it. Its projects with all that runs of them, then its servers, then what it knows. From now on it takes no changes. Whoever asked for it sees the operation for a day after its end. */
  deleteWorkspace(input: {
    /** Whether the data on its servers goes with it, or its volumes are left there. */
    readonly deleteData: boolean;
    /** Does not wait for servers that are gone: what is on them stays there. */
    readonly force?: boolean | undefined;
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<Operation>;
  /** List the members of a workspace. */
  listMembers(input: {
    /** How many; 50 if not said. */
    readonly limit?: number | undefined;
    /** `nextCursor` of the page before. */
    readonly cursor?: string | undefined;
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<MemberPage>;
  /** Change what a member is. Holds at once: their streams end, their tokens can do no more than they. Ownership is passed on by making another member an `owner`, which takes an owner. */
  updateMember(input: {
    readonly id: string;
    readonly accountId: string;
    readonly body?: MemberChange | undefined;
  }, options?: CallOptions): Promise<Member>;
  /** Leave a workspace, or remove a member. Yourself, or with `manage` somebody else. Their tokens of this workspace go with them. The last owner stays. */
  deleteMember(input: {
    readonly id: string;
    readonly accountId: string;
  }, options?: CallOptions): Promise<undefined>;
  /** List the open invitations of a workspace. */
  listInvitations(input: {
    /** How many; 50 if not said. */
    readonly limit?: number | undefined;
    /** `nextCursor` of the page before. */
    readonly cursor?: string | undefined;
    /** Of what the path names before it. */
    readonly id: string;
  }, options?: CallOptions): Promise<InvitationPage>;
  /** Invite somebody by mail. The link works once, for seven days, for this address alone, also where registration is closed. A second invitation of the same address replaces the first. Limited per address and network, and per e-mail; a device that has signed in before has a count of its own. */
  createInvitation(input: {
    /** Of what the path names before it. */
    readonly id: string;
    readonly body: InvitationRequest;
  }, options?: CallOptions): Promise<Invitation>;
  /** Withdraw an invitation. */
  deleteInvitation(input: {
    readonly id: string;
    readonly invitationId: string;
  }, options?: CallOptions): Promise<undefined>;
  /** Accept an invitation. With the account of the address that it was sent to. Whoever has none registers with `invitation`, and is a member once the address is confirmed. */
  acceptInvitation(input: {
    readonly body: AcceptInvitationRequest;
  }, options?: CallOptions): Promise<JoinedWorkspace>;
  /** Who changed what. One entry for each request that changed something, for each sign-in of a member, for whoever was handed secrets, and for work that a push, a schedule or the service itself began. Written with the change, and never altered. */
  listAudit(input?: {
    /** How many; 50 if not said. */
    readonly limit?: number | undefined;
    /** `nextCursor` of the page before. */
    readonly cursor?: string | undefined;
    /** The id of an account or token, an address, the name of a token, or `person`, `token`, `push`, `schedule`, `service`. */
    readonly actor?: string | undefined;
    /** The id of an operation of this document, `signIn`, or the kind of work. */
    readonly action?: string | undefined;
    /** The id of what it is about, or its type. */
    readonly subject?: string | undefined;
    /** Not before. */
    readonly from?: string | undefined;
    /** Before. */
    readonly to?: string | undefined;
  }, options?: CallOptions): Promise<AuditPage>;
  /** The audit log as a file. One entry a line (NDJSON), the newest first. */
  downloadAudit(input?: {
    /** The id of an account or token, an address, the name of a token, or `person`, `token`, `push`, `schedule`, `service`. */
    readonly actor?: string | undefined;
    /** The id of an operation of this document, `signIn`, or the kind of work. */
    readonly action?: string | undefined;
    /** The id of what it is about, or its type. */
    readonly subject?: string | undefined;
    /** Not before. */
    readonly from?: string | undefined;
    /** Before. */
    readonly to?: string | undefined;
  }, options?: CallOptions): Promise<Response>;
  /** What is of the whole installation. For those who look after it: the first account, and whom it has made one. */
  getInstallation(input?: None, options?: CallOptions): Promise<Installation>;
  /** Change who may register, and who looks after the installation. */
  updateInstallation(input?: {
    readonly body?: InstallationChange | undefined;
  }, options?: CallOptions): Promise<Installation>;
  /** Send a mail to yourself. */
  testMail(input?: None, options?: CallOptions): Promise<TestMail>;
  /** Whether the service can work: its database answers and it is not stopping. */
  getReadiness(input?: None, options?: CallOptions): Promise<Readiness>;
  /** Figures for Prometheus. */
  getMetrics(input?: None, options?: CallOptions): Promise<Response>;
  /** For providers: a push. Signed as the provider signs: `X-Hub-Signature-256` (GitHub), `X-Gitlab-Token`, `X-Gitea-Signature`, `X-Hub-Signature` (Bitbucket). A delivery that is repeated is taken once. */
  receiveWebhook(input: {
    readonly provider: 'github' | 'gitlab' | 'gitea' | 'bitbucket';
    readonly hookId: string;
  }, options?: CallOptions): Promise<ReceivedDelivery>;
  /** Deploy a working tree. A tar file of the folder as it is, pushed or not; it is streamed, and stands for a commit from then on: it is built, kept, rolled back to and removed with its deployments. `.git` is left out. What would lie or lead out of the folder is refused by name: absolute paths, `..`, links that lead out, devices, names that are there twice. Takes an `Idempotency-Key`, which does not look into the file. */
  deployUpload(input: {
    /** What the deployment is shown with, in place of the message of a commit. */
    readonly message?: string | undefined;
    /** Of what the path names before it. */
    readonly id: string;
    readonly body: Bytes;
  }, options?: CallOptions): Promise<Deployment>;
  /** Import a file into a database. Statements or a dump, compressed or not. It is streamed to the server, done to a copy of the database, and the copy takes its place where all of it went well; otherwise nothing has changed, and the fault names the line and the statement. What is there is backed up first. Takes an `Idempotency-Key`, which does not look into the file. */
  importDump(input: {
    /** Needed where the environment has several services. */
    readonly serviceId?: string | undefined;
    /** Of what the path names before it. */
    readonly id: string;
    readonly body: ImportedFile;
  }, options?: CallOptions): Promise<Operation>;
}

/** One a line: its name, its method, its path (below /api/v1/ unless it begins with a slash), and what it takes. */
export const table = `getHealth GET /healthz
register POST auth/register j
verifyOtp POST auth/verify-otp j
resendOtp POST auth/resend-otp j
login POST auth/login j
loginWithSecondFactor POST auth/login/second-factor j
getSecondFactorChallenge GET auth/login/second-factor
refresh POST auth/refresh j
logout POST auth/logout a
getMe GET auth/me a
forgotPassword POST auth/forgot-password j
resetPassword POST auth/reset-password j
createStreamTicket POST auth/stream-ticket a
listSessions GET auth/sessions a
endOtherSessions DELETE auth/sessions a
endSession DELETE auth/sessions/{id} a
getSecondFactors GET auth/second-factors a
startTotp POST auth/totp a
deleteTotp DELETE auth/totp a
verifyTotp POST auth/totp/confirm aj
createRecoveryCodes POST auth/recovery-codes a
startPasskey POST auth/passkeys/options a
createPasskey POST auth/passkeys aj
updatePasskey PATCH auth/passkeys/{id} aj
deletePasskey DELETE auth/passkeys/{id} a
verifyPassword POST auth/confirm aj
createConfirmChallenge POST auth/confirm/challenge a
getOidc GET auth/oidc
startOidc POST auth/oidc/begin j
getOidcLink GET auth/oidc/link a
startOidcLink POST auth/oidc/link aj
deleteOidcLink DELETE auth/oidc/link a
startOidcConfirm POST auth/oidc/confirm aj
createDeviceCode POST auth/device-codes j
loginWithDeviceCode POST auth/login/device-code j
verifyUserCode POST auth/device-codes/verify aj
answerDeviceCode POST auth/device-codes/answer aj
createApiToken POST api-tokens awkj
listApiTokens GET api-tokens aw
deleteApiToken DELETE api-tokens/{id} aw
listOperations GET operations aw
getOperation GET operations/{id} aw
cancelOperation POST operations/{id}/cancel aw
followOperation GET operations/{id}/events awe
followEvents GET events awe
registerServer POST servers awkj
listServers GET servers aw
getServer GET servers/{id} aw
updateServer PATCH servers/{id} awj
deleteServer DELETE servers/{id} aw
provisionServer POST servers/{id}/provision awk
testConnection POST servers/test-connection awjl
getServerSecurity GET servers/{id}/security aw
hardenServer POST servers/{id}/security/harden awkj
undoHardening POST servers/{id}/security/undo awkj
createCluster POST clusters awkj
listClusters GET clusters aw
getCluster GET clusters/{id} aw
updateCluster PATCH clusters/{id} awj
deleteCluster DELETE clusters/{id} aw
createClusterMembers POST clusters/{id}/servers awkj
deleteClusterMember DELETE clusters/{id}/servers/{serverId} aw
rebootCluster POST clusters/{id}/rolling-reboot awkj
drainClusterMember POST clusters/{id}/servers/{serverId}/drain awk
activateClusterMember POST clusters/{id}/servers/{serverId}/activate awk
saveGitToken POST git-provider/save-token awkj
listGitProviders GET git-providers aw
getGitProvider GET git-providers/{id} aw
disconnectGitProvider DELETE git-providers/{id} aw
searchRepositories GET git-providers/repositories aw
listBranches GET git-providers/{providerId}/repos/{repo}/branches aw
createProject POST projects awkj
listProjects GET projects aw
analyzeRepository GET projects/analyze-repo aw
getProject GET projects/{id} aw
updateProject PUT projects/{id} awj
deleteProject DELETE projects/{id} awk
retryAnalysis POST projects/{id}/retry-analysis awk
finalizeProject POST projects/{id}/finalize awkj
getDockerfile GET projects/{id}/dockerfile aw
followAnalysis GET projects/{id}/analysis-status awe
installWebhook POST projects/{id}/webhook awk
getWebhook GET projects/{id}/webhook aw
listWebhookDeliveries GET projects/{id}/webhook-deliveries aw
createEnvironment POST environments awkj
listEnvironments GET environments aw
getEnvironment GET environments/{id} aw
updateEnvironment PATCH environments/{id} awj
deleteEnvironment DELETE environments/{id} aw
setBranch PATCH environments/{id}/branch awj
linkServer PATCH environments/{id}/server awj
setAutoDeploy PATCH environments/{id}/auto-deploy awj
setVariables POST environments/{id}/variables awkj
listVariables GET environments/{id}/variables aw
getVariable GET environments/{id}/variables/{key} aw
deleteVariable DELETE environments/{id}/variables/{key} aw
deploy POST environments/{id}/deployments awkj
listDeployments GET environments/{id}/deployments aw
getDeployment GET environments/{id}/deployments/{did} aw
cancelDeployment POST environments/{id}/deployments/{did}/cancel aw
rollBackDeployment POST environments/{id}/deployments/{did}/rollback awkj
getDeploymentLogs GET environments/{id}/deployments/{did}/logs aw
followDeployment GET environments/{id}/deployments/{did}/status awe
stopEnvironment POST environments/{id}/stop awk
startEnvironment POST environments/{id}/start awk
followLogs GET environments/{id}/logs awl
listContainers GET environments/{id}/containers aw
setServices POST environments/{id}/services awkj
listServices GET environments/{id}/services aw
getServiceCredentials GET environments/{id}/services/{sid}/credentials aw
registerDomain POST domains awkj
listDomains GET domains aw
getDomain GET domains/{id} aw
deleteDomain DELETE domains/{id} aw
verifyDomain POST domains/{id}/verify aw
connectDomain POST environments/{id}/domain awkj
listEnvironmentDomains GET environments/{id}/domains aw
getEnvironmentDomain GET environments/{id}/domains/{domainId} aw
disconnectDomain DELETE environments/{id}/domains/{domainId} aw
listAllBackups GET backups aw
listBackups GET environments/{id}/backups aw
triggerBackup POST environments/{id}/backups/trigger awkj
getBackupConfig GET environments/{id}/backups/config aw
updateBackupConfig PATCH environments/{id}/backups/config awj
getBackup GET environments/{id}/backups/{bid} aw
deleteBackup DELETE environments/{id}/backups/{bid} aw
restoreBackup POST environments/{id}/backups/{bid}/restore awkj
downloadBackup GET environments/{id}/backups/{bid}/download awb
listNotificationConnectors GET notification-connectors aw
createNotificationConnector POST notification-connectors awkj
getNotificationConnector GET notification-connectors/{id} aw
updateNotificationConnector PATCH notification-connectors/{id} awj
deleteNotificationConnector DELETE notification-connectors/{id} aw
testNotificationConnector POST notification-connectors/{id}/test awk
answerNotificationRecipient POST notification-recipients/answer j
listNotificationDeliveries GET notification-connectors/{id}/deliveries aw
getProjectNotifications GET notification-connectors/project/{projectId} aw
linkNotificationConnectors PUT notification-connectors/project/{projectId} awj
listWorkspaces GET workspaces a
createWorkspace POST workspaces aj
getWorkspace GET workspaces/{id} a
updateWorkspace PATCH workspaces/{id} aj
deleteWorkspace DELETE workspaces/{id} a
listMembers GET workspaces/{id}/members a
updateMember PATCH workspaces/{id}/members/{accountId} aj
deleteMember DELETE workspaces/{id}/members/{accountId} a
listInvitations GET workspaces/{id}/invitations a
createInvitation POST workspaces/{id}/invitations akj
deleteInvitation DELETE workspaces/{id}/invitations/{invitationId} a
acceptInvitation POST invitations/accept aj
listAudit GET audit aw
downloadAudit GET audit/export awb
getInstallation GET installation a
updateInstallation PATCH installation aj
testMail POST installation/test-mail a
getReadiness GET /readyz
getMetrics GET /metrics b
receiveWebhook POST webhooks/git/{provider}/{hookId}
deployUpload POST environments/{id}/deployments/upload awk application/gzip
importDump POST environments/{id}/backups/import awkf`;

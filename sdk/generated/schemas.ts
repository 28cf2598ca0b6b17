/** Made from openapi.json by `npm run generate`. */

export interface AcceptInvitationRequest {
  /** From the link in the mail. */
  readonly token: string;
}

export interface AnalysedApp {
  /** `.` for the root. */
  readonly path: string;
  readonly name: string;
  readonly language: string;
  readonly framework: string | null;
  readonly packageManager: {
    readonly name: string;
    readonly version: string | null;
    readonly lockFile: string | null;
  } | null;
  readonly versions: { readonly [name: string]: string };
  readonly installCommand: string | null;
  readonly buildCommand: string | null;
  readonly startCommand: string | null;
  readonly releaseCommand: string | null;
  readonly staticOutput: {
    readonly directory: string;
    /** Unknown paths are answered with index.html. */
    readonly isSinglePage: boolean;
  } | null;
  readonly port: number | null;
  readonly healthPath: string | null;
  readonly processes: readonly {
    readonly name: string;
    readonly kind: 'worker' | 'cron';
    readonly command: string;
    readonly schedule: string | null;
  }[];
  readonly dockerfile: {
    readonly path: string;
  } | null;
  /** Folders whose content must outlive a release. */
  readonly volumes: readonly string[];
  readonly confidence: number;
}

export interface AnalysedCommit {
  readonly sha: string;
  readonly message: string;
  readonly author: string;
  readonly authoredAt: string;
  readonly branch: string;
}

/** It is over; the last event. */
export interface AnalysisEndEvent {
  readonly kind: 'end';
  readonly at: string;
  readonly status: AnalysisStatus;
  readonly fault?: Fault;
}

export type AnalysisEvent = AnalysisStatusEvent | AnalysisFindingEvent | AnalysisEndEvent | ResetEvent;

/** Something that was found, as a sentence. */
export interface AnalysisFindingEvent {
  readonly kind: 'finding';
  readonly at: string;
  readonly about: 'app' | 'service' | 'variables' | 'monorepo' | 'warning';
  readonly text: string;
}

export interface AnalysisResult {
  readonly apps: readonly AnalysedApp[];
  readonly services: readonly NeededService[];
  readonly variables: readonly NeededVariable[];
  readonly composeFile: string | null;
  readonly monorepo: {
    readonly kind: string;
    readonly tool: string | null;
    readonly members: readonly string[];
  } | null;
  readonly languages: readonly {
    readonly name: string;
    readonly share: number;
  }[];
  readonly warnings: readonly {
    readonly code: string;
    readonly message: string;
    readonly file: string | null;
  }[];
  /** Which file told what. */
  readonly evidence: readonly {
    readonly field: string;
    readonly file: string;
    readonly line?: number;
    readonly note: string;
  }[];
}

export type AnalysisStatus = 'queued' | 'fetching' | 'analyzing' | 'succeeded' | 'failed';

/** Its status has changed. */
export interface AnalysisStatusEvent {
  readonly kind: 'status';
  readonly at: string;
  readonly status: AnalysisStatus;
  readonly fault?: Fault;
}

export interface ApiToken {
  readonly id: string;
  readonly name: string;
  /** Its first characters, to know it by. */
  readonly start: string;
  /** `read`; `deploy` (and read); `change` (and deploy); `manage` (and change); `read_secrets` (and read): what hands out data or passwords. What its maker may not do, the token may not either. */
  readonly abilities: readonly ('read' | 'deploy' | 'change' | 'manage' | 'read_secrets')[];
  readonly projectId: string | null;
  readonly createdBy: {
    readonly id: string;
    readonly email: string;
  };
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
  readonly createdAt: string;
}

export interface ApiTokenPage {
  readonly items: readonly ApiToken[];
  readonly nextCursor: string | null;
}

export interface ApiTokenRequest {
  /** What it is for. */
  readonly name: string;
  /** `read`; `deploy` (and read); `change` (and deploy); `manage` (and change); `read_secrets` (and read): what hands out data or passwords. What its maker may not do, the token may not either. */
  readonly abilities: readonly ('read' | 'deploy' | 'change' | 'manage' | 'read_secrets')[];
  /** The only project there is for it; all of the workspace where it is left away. */
  readonly projectId?: string | undefined;
  /** Never, where it is left away. */
  readonly expiresAt?: string | undefined;
}

export interface AuditEntry {
  readonly id: string;
  readonly at: string;
  readonly actor: {
    readonly kind: 'person' | 'token' | 'push' | 'schedule' | 'service';
    readonly name: string | null;
    readonly accountId: string | null;
    readonly tokenId: string | null;
  };
  readonly action: string;
  readonly subject: {
    readonly type: string;
    readonly id: string;
  } | null;
  readonly changes: unknown | null;
  readonly ip: string | null;
  readonly requestId: string | null;
}

export interface AuditPage {
  readonly items: readonly AuditEntry[];
  readonly nextCursor: string | null;
}

export interface AutoDeploy {
  readonly enabled: boolean;
  /** Folders or patterns; only a push that changes something under them deploys. None: any push. */
  readonly watchPaths?: readonly string[] | undefined;
}

export type AutoDeployEnvironment = Environment & {
  readonly webhook: {
    /** Made at the provider by us. If not, polling finds pushes. */
    readonly installed: boolean;
    readonly url: string;
    readonly problem: Fault | null;
  } | null;
};

export interface Backup {
  readonly id: string;
  readonly environmentId: string;
  /** As it was called then; it may be gone. */
  readonly environmentName: string;
  readonly serviceId: string | null;
  readonly trigger: 'manual' | 'schedule' | 'pre_restore' | 'pre_import';
  readonly status: BackupStatus;
  readonly sizeBytes: number | null;
  readonly sha256: string | null;
  readonly verifiedAt: string | null;
  readonly destination: LocalDestination | S3Destination;
  readonly parts: readonly BackupPart[];
  readonly operationId: string | null;
  readonly requestedBy: string | null;
  readonly fault: Fault | null;
  readonly createdAt: string;
  readonly finishedAt: string | null;
}

export interface BackupConfig {
  readonly enabled: boolean;
  /** Five fields, or a shorthand such as `@daily`; not more often than every 15 minutes. */
  readonly cron: string;
  readonly timezone: string;
  readonly retention: {
    /** So many stay, whatever their age. */
    readonly keepLast: number;
    /** So long they stay, whatever their number. */
    readonly keepDays: number;
  };
  readonly destination: LocalDestination | S3Destination;
  readonly verify: boolean;
  readonly nextRunAt: string | null;
  readonly lastRunAt: string | null;
}

export interface BackupConfigChange {
  readonly enabled?: boolean | undefined;
  /** Five fields, or a shorthand such as `@daily`; not more often than every 15 minutes. */
  readonly cron?: string | undefined;
  readonly timezone?: string | undefined;
  readonly retention?: {
    /** So many stay, whatever their age. */
    readonly keepLast?: number | undefined;
    /** So long they stay, whatever their number. */
    readonly keepDays?: number | undefined;
  } | undefined;
  readonly destination?: {
    readonly type: 'local';
  } | {
    readonly type: 's3';
    readonly endpoint: string;
    readonly region: string;
    readonly bucket: string;
    readonly prefix?: string | undefined;
    readonly accessKeyId: string;
    /** Never shown again. May be left away where endpoint and access key are those of before. */
    readonly secretAccessKey?: string | undefined;
  } | undefined;
  /** Whether each is restored and compared. */
  readonly verify?: boolean | undefined;
}

export interface BackupList {
  readonly items: readonly Backup[];
  readonly nextCursor: string | null;
  readonly storage: BackupStorage;
}

export interface BackupPart {
  readonly id: string;
  readonly source: {
    readonly type: 'service' | 'volume';
    readonly serviceId: string | null;
    readonly name: string;
  };
  readonly kind: string;
  readonly version: string | null;
  readonly format: string;
  readonly sizeBytes: number | null;
  readonly rawBytes: number | null;
  readonly sha256: string | null;
  /** With a key of the workspace, before it left for its destination. */
  readonly isEncrypted: boolean;
  readonly verification: BackupVerification;
  readonly warning: string | null;
}

/** `succeeded` and `failed` are final. A cancelled one has failed with the code `cancelled`. */
export type BackupStatus = 'queued' | 'dumping' | 'storing' | 'verifying' | 'succeeded' | 'failed';

export interface BackupStorage {
  /** At all destinations. */
  readonly usedBytes: number;
  readonly count: number;
}

/** A backup has changed. */
export interface BackupUpdatedEvent {
  readonly kind: 'backup_updated';
  readonly at: string;
  readonly backupId: string;
  readonly environmentId: string;
  /** Where its environment is still there. */
  readonly projectId?: string;
  readonly status: BackupStatus;
  /** What of it, beside its status. */
  readonly reason?: string;
}

export interface BackupVerification {
  /** `verified`: restored into a throw-away container and compared. `unverifiable`: stored, but it could not be tried, and `reason` says why. */
  readonly status: 'pending' | 'verified' | 'failed' | 'unverifiable' | 'off';
  readonly reason: string | null;
  readonly at: string | null;
}

export interface BackupWish {
  /** One service alone; all and the volumes, if not said. */
  readonly serviceId?: string | undefined;
}

export interface BranchChange {
  readonly branch: string;
}

export interface BranchList {
  readonly items: readonly {
    readonly name: string;
    readonly sha: string;
    readonly isDefault: boolean;
    readonly isProtected: boolean | null;
  }[];
  readonly nextCursor: string | null;
}

/** What is absent is as the analysis found it; null is «none». */
export interface BuildSettings {
  readonly installCommand?: string | null | undefined;
  readonly buildCommand?: string | null | undefined;
  readonly startCommand?: string | null | undefined;
  readonly releaseCommand?: string | null | undefined;
  readonly staticOutput?: string | null | undefined;
  readonly port?: number | undefined;
  readonly healthPath?: string | null | undefined;
  readonly dockerfilePath?: string | null | undefined;
  readonly dockerfileTarget?: string | null | undefined;
  readonly buildMemoryMb?: number | null | undefined;
  readonly buildCpus?: number | null | undefined;
  /** Of the web process; 1 if not said. */
  readonly replicas?: number | undefined;
  /** On a cluster: as many replicas on each server, or as few servers as their memory allows. `even` if not said. */
  readonly spread?: 'even' | 'packed' | undefined;
  readonly memoryMb?: number | null | undefined;
  readonly cpus?: number | null | undefined;
  /** Folders that outlive releases. With any of them the old release stops before the new one starts; requests wait meanwhile. */
  readonly volumes?: readonly Volume[] | undefined;
  readonly health?: HealthSettings | undefined;
  /** How long requests that are under way may take before the old release is stopped. 30 if not said. */
  readonly drainSeconds?: number | undefined;
  /** How long a container may take to end by itself. 10 if not said. */
  readonly stopSeconds?: number | undefined;
  /** How long a request waits where nobody can take it for now. 30 if not said. */
  readonly holdSeconds?: number | undefined;
  /** Beside the web process, by name: those that the analysis found, changed, or further ones. */
  readonly processes?: { readonly [name: string]: ProcessSettings } | undefined;
}

export interface ChangeNeeds {
  /** What it takes until the change is in effect: a deployment that builds, one that does not, or nothing, because nothing runs that it would change. */
  readonly needs: 'rebuild' | 'restart' | 'nothing';
}

export type ChangedEnvironment = Environment & {
  /** What it takes until the change is in effect: a deployment that builds, one that does not, or nothing, because nothing runs that it would change. */
  readonly needs: 'rebuild' | 'restart' | 'nothing';
};

export interface ChangedServices {
  readonly services: readonly ListedService[];
  readonly operationId: string | null;
  /** Whether the application has to be started again to know its variables. */
  readonly needs: 'restart' | 'nothing';
}

export interface Cluster {
  readonly id: string;
  /** Yours to choose; once in a workspace. */
  readonly name: string;
  readonly network: string | null;
  /** `degraded`: a server is down, and the others go on. `no_quorum`: the managers have lost their majority. `failed`: it could not be made, and has no servers. */
  readonly status: 'creating' | 'ready' | 'degraded' | 'no_quorum' | 'unreachable' | 'failed';
  readonly problem: Fault | null;
  readonly operationId: string | null;
  readonly managers: ClusterManagers;
  /** Whether the kernels of all members can encrypt what containers say to each other. */
  readonly overlayEncryption: 'available' | 'unavailable' | 'unknown';
  readonly members: readonly ClusterMember[];
  readonly checkedAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface ClusterChange {
  /** Yours to choose; once in a workspace. */
  readonly name: string;
}

export interface ClusterList {
  readonly items: readonly Cluster[];
  readonly nextCursor: string | null;
}

export interface ClusterManagers {
  /** One up to two servers, three up to six, then five. */
  readonly wanted: number;
  readonly present: number;
  readonly reachable: number;
  /** A majority: without it nothing can be changed. */
  readonly needed: number;
  readonly inWords: string;
}

export interface ClusterMember {
  readonly serverId: string;
  /** Of the server. */
  readonly name: string;
  readonly state: 'joining' | 'ready' | 'down' | 'leaving';
  readonly role: 'manager' | 'worker' | null;
  readonly isLeader: boolean;
  /** On `drain`, nothing is placed on it. */
  readonly availability: 'active' | 'drain';
  readonly address: string | null;
  readonly downSince: string | null;
}

/** A cluster, or a server of it, has changed. */
export interface ClusterUpdatedEvent {
  readonly kind: 'cluster_updated';
  readonly at: string;
  readonly clusterId: string;
  /** What of it, or its new status. */
  readonly reason: string;
}

export type ConfirmRequest = PasswordProof | TotpProof | RecoveryCodeProof | PasskeyProof;

export interface ConnectedDomain {
  readonly id: string;
  readonly environmentId: string;
  readonly domainId: string;
  readonly hostname: string;
  readonly url: string;
  readonly ssl: {
    readonly mode: 'auto' | 'custom' | 'off';
  };
  readonly redirectHttp: boolean;
  readonly www: 'none' | 'redirect_to_apex' | 'redirect_to_www';
  readonly hstsSeconds: number | null;
  readonly certificate: {
    readonly status: 'none' | 'pending' | 'issued' | 'failed';
    readonly issuer: string | null;
    readonly notAfter: string | null;
    readonly fault: Fault | null;
  };
  readonly createdAt: string;
}

export interface ConnectedDomainList {
  readonly items: readonly ConnectedDomain[];
}

export type ConnectingDomain = ConnectedDomain & {
  readonly operationId: string | null;
  /** What was seen in DNS; nothing is looked at while it stands on no server. */
  readonly findings: readonly DomainFinding[];
};

/** The last event. */
export interface ConnectionTestEndEvent {
  readonly kind: 'end';
  readonly at: string;
}

export type ConnectionTestEvent = ConnectionTestStepEvent | ConnectionTestResultEvent | ConnectionTestEndEvent;

/** Whether the server can be worked on. */
export interface ConnectionTestResultEvent {
  readonly kind: 'result';
  readonly at: string;
  readonly ok: boolean;
  readonly hostKeyFingerprint: string | null;
  readonly facts: ServerFacts | null;
  readonly fault: Fault | null;
}

export type ConnectionTestStep = 'resolve' | 'tcp' | 'host_key' | 'authenticate' | 'privilege' | 'system' | 'docker' | 'resources' | 'clock';

/** A step is done. */
export interface ConnectionTestStepEvent {
  readonly kind: 'step';
  readonly at: string;
  readonly step: ConnectionTestStep;
  readonly status: 'passed' | 'warning' | 'failed';
  /** What was seen, or what is wrong. */
  readonly message: string;
  readonly code?: FaultCode;
  readonly hint?: string | null;
  readonly evidence?: string | null;
}

/** A notification connector has changed. */
export interface ConnectorUpdatedEvent {
  readonly kind: 'connector_updated';
  readonly at: string;
  readonly connectorId: string;
  readonly reason: 'created' | 'changed' | 'deleted' | 'linked' | 'failing' | 'recovered' | 'disabled';
}

export interface Container {
  readonly name: string;
  readonly process: string;
  readonly replica: number;
  readonly deploymentId: string | null;
  /** Where it runs. */
  readonly serverId: string;
  readonly state: 'created' | 'running' | 'restarting' | 'paused' | 'exited' | 'dead' | 'removing';
  /** How often it was started again after it had ended by itself. */
  readonly restarts: number;
  readonly exitCode: number | null;
  readonly isOutOfMemory: boolean;
  readonly startedAt: string | null;
  readonly memoryBytes: number | null;
  readonly memoryLimitBytes: number | null;
}

export interface Containers {
  readonly containers: readonly Container[];
  readonly checkedAt: string;
}

export type CreatedNotificationConnector = NotificationConnector & {
  readonly secret: string | null;
};

/** Nothing: the newest commit of the environment’s branch. */
export interface DeployRequest {
  /** A whole commit id: 40 small hexadecimal digits. */
  readonly commit?: string | undefined;
  /** Its newest commit; the environment keeps its own branch. */
  readonly branch?: string | undefined;
}

export type Deployment = DeploymentSummary & {
  readonly plan: { readonly [name: string]: unknown } | null;
  /** The health checks with their answers; equal ones in a row are one, and of very many the middle is left out. */
  readonly probes: readonly {
    readonly container: string;
    readonly atMs: number;
    readonly outcome: string;
    readonly status: number | null;
    readonly location: string | null;
    readonly body: string;
    readonly problem: string | null;
    /** How many like it came right after. */
    readonly repeated: number;
  }[];
};

/** It is over; the last event. */
export interface DeploymentEndEvent {
  readonly kind: 'end';
  readonly at: string;
  readonly status: DeploymentStatus;
  readonly step?: string | null;
  readonly fault?: Fault;
}

export type DeploymentEvent = DeploymentStatusEvent | StepProgressEvent | StepLogEvent | DeploymentEndEvent | ResetEvent;

export interface DeploymentList {
  readonly items: readonly DeploymentSummary[];
  readonly nextCursor: string | null;
}

export interface DeploymentLogs {
  readonly items: readonly {
    readonly position: number;
    readonly at: string;
    readonly step: string;
    readonly line: string;
  }[];
  readonly nextCursor: string | null;
}

/** `queued → preparing → building → starting → switching → succeeded`, or `failed`, `cancelled`, `superseded` from any state before. Which deployment is live is the environment’s `currentDeploymentId`. */
export type DeploymentStatus = 'queued' | 'preparing' | 'building' | 'starting' | 'switching' | 'succeeded' | 'failed' | 'cancelled' | 'superseded';

/** Its status, or the step it is at, has changed. */
export interface DeploymentStatusEvent {
  readonly kind: 'status';
  readonly at: string;
  readonly status: DeploymentStatus;
  readonly step?: string | null;
  readonly fault?: Fault;
}

export interface DeploymentSummary {
  readonly id: string;
  readonly environmentId: string;
  /** Counted in the environment, from 1. */
  readonly number: number;
  readonly trigger: 'manual' | 'push' | 'finalize' | 'rollback' | 'retry' | 'move';
  /** Where its files are from: the repository of the project, or a working tree that was uploaded. */
  readonly source: 'repository' | 'upload';
  readonly commit: {
    readonly sha: string | null;
    readonly message: string | null;
    readonly author: string | null;
    readonly branch: string | null;
  };
  readonly status: DeploymentStatus;
  readonly step: string | null;
  readonly steps: readonly {
    readonly name: string;
    readonly status: 'running' | 'done' | 'failed' | 'cancelled';
    readonly startedAt: string;
    readonly finishedAt: string | null;
  }[];
  readonly fault: Fault | null;
  readonly imageDigest: string | null;
  readonly rollbackOf: string | null;
  readonly supersededBy: string | null;
  readonly operationId: string | null;
  readonly serverId: string;
  readonly requestedBy: string | null;
  readonly queuedAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly durationMs: number | null;
}

export interface DeviceAnswerRequest {
  /** What the program shows; case, blanks and hyphens do not matter. */
  readonly userCode: string;
  readonly allow: boolean;
}

export interface DeviceCode {
  /** The secret of the program that waits; nobody else is shown it. */
  readonly deviceCode: string;
  /** For the person, to type. */
  readonly userCode: string;
  /** Where the person types it. */
  readonly verificationUri: string;
  /** Seconds until both codes expire. */
  readonly expiresIn: number;
  /** Seconds to wait before each look; sooner is `slow_down`. */
  readonly interval: number;
}

export interface DeviceCodeRequest {
  /** What the person knows the machine by: its host name. */
  readonly deviceName: string;
}

export interface DeviceLoginPending {
  /** Seconds to wait before each look; sooner is `slow_down`. */
  readonly interval: number;
}

export interface DeviceLoginRequest {
  /** The secret of the program that waits; nobody else is shown it. */
  readonly deviceCode: string;
}

export interface DeviceRequest {
  /** As the program says. */
  readonly deviceName: string;
  readonly userAgent: string | null;
  /** From where it asked. */
  readonly ip: string;
  /** Whether that is the network that you ask from now. */
  readonly sameNetwork: boolean;
  readonly requestedAt: string;
  readonly expiresAt: string;
}

export interface DiscordConfig {
  /** Of a webhook of a channel. */
  readonly webhookUrl: string;
}

export interface Domain {
  readonly id: string;
  /** In A-labels. */
  readonly hostname: string;
  readonly status: 'pending' | 'verified' | 'failed';
  readonly verification: {
    readonly type: 'TXT';
    readonly name: string;
    readonly value: string;
  };
  readonly lastCheck: {
    readonly at: string;
    readonly findings: readonly DomainFinding[];
  } | null;
  readonly verifiedAt: string | null;
  readonly missingSince: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface DomainFinding {
  readonly code: string;
  readonly severity: 'ok' | 'info' | 'warning' | 'error';
  /** What was seen, as a sentence. */
  readonly message: string;
  readonly hint: string | null;
  readonly evidence: string | null;
}

export interface DomainList {
  readonly items: readonly Domain[];
  readonly nextCursor: string | null;
}

export interface DomainOfEnvironment {
  /** The domain itself; or `hostname`. */
  readonly domainId?: string | undefined;
  /** Any name under a verified domain; or `domainId`. */
  readonly hostname?: string | undefined;
  readonly ssl?: {
    /** `auto`: a certificate of the authority, renewed by itself. */
    readonly mode: 'auto' | 'custom' | 'off';
    readonly certificate?: string | undefined;
    readonly privateKey?: string | undefined;
  } | undefined;
  /** From http to https; yes, if not said. */
  readonly redirectHttp?: boolean | undefined;
  /** Whether the name with `www.` leads to the bare one, or the other way round; `none` if not said. */
  readonly www?: 'none' | 'redirect_to_apex' | 'redirect_to_www' | undefined;
  readonly hstsSeconds?: number | null | undefined;
}

/** A domain or a certificate has changed. */
export interface DomainUpdatedEvent {
  readonly kind: 'domain_updated';
  readonly at: string;
  readonly domainId?: string;
  readonly certificateId?: string;
  readonly hostname: string;
  /** What of it. */
  readonly reason: string;
  /** Its new status. */
  readonly status?: string;
}

export interface EmailConfig {
  readonly to: readonly string[];
}

export interface EmailRequest {
  /** An e-mail address; case does not matter. */
  readonly email: string;
}

export interface Environment {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly slug: string;
  readonly branch: string;
  readonly serverId: string | null;
  readonly placement: Placement | null;
  readonly autoDeploy: boolean;
  readonly watchPaths: readonly string[];
  readonly settings: EnvironmentSettings;
  readonly resources: Resources | null;
  readonly services: readonly Service[];
  readonly domain: ConnectedDomain | null;
  readonly currentDeploymentId: string | null;
  readonly lastDeployment: LastDeployment | null;
  readonly status: 'idle' | 'deploying' | 'running' | 'degraded' | 'stopped';
  /** Why it is degraded. */
  readonly problem: Fault | null;
  readonly url: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type EnvironmentBackupList = BackupList & {
  readonly config: BackupConfig | null;
};

export interface EnvironmentChange {
  /** Yours to choose; once in a project. */
  readonly name?: string | undefined;
  readonly settings?: EnvironmentSettings | undefined;
  /** Settings that are to be as the analysis found them again. */
  readonly resetSettings?: readonly ('installCommand' | 'buildCommand' | 'startCommand' | 'releaseCommand' | 'staticOutput' | 'port' | 'healthPath' | 'dockerfilePath' | 'dockerfileTarget' | 'buildMemoryMb' | 'buildCpus' | 'replicas' | 'spread' | 'memoryMb' | 'cpus' | 'volumes' | 'health' | 'drainSeconds' | 'stopSeconds' | 'holdSeconds' | 'processes')[] | undefined;
  /** Folders or patterns; only a push that changes something under them deploys. None: any push. */
  readonly watchPaths?: readonly string[] | undefined;
}

export interface EnvironmentList {
  readonly items: readonly Environment[];
  readonly nextCursor: string | null;
}

/** What is absent is as the analysis found it; null is «none». */
export interface EnvironmentSettings {
  /** The `path` of one of the apps found; needed where there are several. */
  readonly appPath?: string | undefined;
  readonly installCommand?: string | null | undefined;
  readonly buildCommand?: string | null | undefined;
  readonly startCommand?: string | null | undefined;
  readonly releaseCommand?: string | null | undefined;
  readonly staticOutput?: string | null | undefined;
  readonly port?: number | undefined;
  readonly healthPath?: string | null | undefined;
  readonly dockerfilePath?: string | null | undefined;
  readonly dockerfileTarget?: string | null | undefined;
  readonly buildMemoryMb?: number | null | undefined;
  readonly buildCpus?: number | null | undefined;
  /** Of the web process; 1 if not said. */
  readonly replicas?: number | undefined;
  /** On a cluster: as many replicas on each server, or as few servers as their memory allows. `even` if not said. */
  readonly spread?: 'even' | 'packed' | undefined;
  readonly memoryMb?: number | null | undefined;
  readonly cpus?: number | null | undefined;
  /** Folders that outlive releases. With any of them the old release stops before the new one starts; requests wait meanwhile. */
  readonly volumes?: readonly Volume[] | undefined;
  readonly health?: HealthSettings | undefined;
  /** How long requests that are under way may take before the old release is stopped. 30 if not said. */
  readonly drainSeconds?: number | undefined;
  /** How long a container may take to end by itself. 10 if not said. */
  readonly stopSeconds?: number | undefined;
  /** How long a request waits where nobody can take it for now. 30 if not said. */
  readonly holdSeconds?: number | undefined;
  /** Beside the web process, by name: those that the analysis found, changed, or further ones. */
  readonly processes?: { readonly [name: string]: ProcessSettings } | undefined;
}

/** Why something went wrong, kept with what it happened to. */
export interface Fault {
  readonly code: FaultCode;
  readonly step: string | null;
  /** Why, as a sentence for a person. */
  readonly message: string;
  readonly hint: string | null;
  readonly evidence: string | null;
}

/**
 * What happened, for programs. One of:
 * - `access_denied`: The person who was asked to allow a program refused it.
 * - `acme_nonsense`: The certificate authority gives an answer that cannot be understood.
 * - `acme_rate_limited`: The certificate authority takes no more requests for now; it is asked again by itself.
 * - `acme_refused`: The certificate authority refuses the request; what it says is in the sentence.
 * - `acme_unreachable`: The certificate authority cannot be reached, or is out of order.
 * - `already_finalized`: The project has been finalised; more environments are made on their own.
 * - `already_finished`: The operation has ended; it cannot be cancelled any more.
 * - `already_member`: Somebody with this address is in the workspace already.
 * - `analysis_running`: The repository of the project is being analysed.
 * - `analysis_stopped`: The analysis was ended: the repository needs more time, memory or processor time than one gets.
 * - `app_bound_to_localhost`: The app listens on localhost only, where nothing outside its container can reach it.
 * - `app_crash_loop`: The app ends again and again, each time soon after it was started.
 * - `app_crashed`: The app ended instead of running on.
 * - `app_not_found`: The commit has no app in the folder that the environment is about.
 * - `app_not_http`: Something listens on the port of the app, but does not speak HTTP there.
 * - `app_not_listening`: The app runs, but listens on no port.
 * - `app_out_of_memory`: The app was ended because it used more memory than it has.
 * - `app_redirects`: The app answers the health check with a redirect.
 * - `app_unhealthy`: The app answers the health check with an error, or not in time.
 * - `app_wrong_port`: The app listens on another port than the one that is expected.
 * - `architectures_differ`: The servers of a cluster have to be of one architecture; images are built for it.
 * - `archive_invalid`: An uploaded archive cannot be read, or has an entry that is not taken; the sentence names it.
 * - `bad_request`: The request is not well-formed HTTP, or its JSON cannot be parsed.
 * - `backup_damaged`: A stored backup was changed or cut short since it was written; nothing of it is used.
 * - `backup_incompatible`: A backup does not fit what is there now: another kind, another version, or gone.
 * - `backup_key_mismatch`: A stored backup was encrypted with another key than the one of this workspace.
 * - `backup_last_good`: It is the last good backup of its kind; deleting it has to be asked for by `force`.
 * - `backup_missing`: A stored backup is not in its storage any more.
 * - `backup_not_equal`: A restored copy of a backup is not what was dumped, so the backup is not good.
 * - `backup_unfinished`: The backup is still being made, or has failed; only one that has succeeded can be used.
 * - `build_failed`: The image could not be built; the last lines of the step that failed say why.
 * - `build_lost`: A build was cut off by the server before it could end.
 * - `build_out_of_memory`: The build needed more memory than builds may take on the server.
 * - `cancelled`: Someone cancelled it.
 * - `certificate_invalid`: A certificate or its key cannot be used; `errors` says why.
 * - `challenge_failed`: The certificate authority looked at a name over HTTP and did not find this server answering there.
 * - `changed_since`: A file on the server was changed by someone else since; undoing would lose that change.
 * - `clock_wrong`: The clock of the server is off by more than a minute.
 * - `cluster_busy`: Another operation is under way on the cluster.
 * - `cluster_no_quorum`: The managers of the cluster have lost their majority, so nothing of it can be changed.
 * - `cluster_ports_closed`: Members of a cluster do not reach each other on the ports of Docker Swarm; the sentence names which.
 * - `commit_not_found`: The repository has no such branch, tag or commit.
 * - `database_down`: The container of a database does not run, or the database does not answer.
 * - `database_unavailable`: The database does not answer at the moment. Try again shortly.
 * - `deadline_exceeded`: A step of an operation took longer than it may.
 * - `disk_full`: The disk of the server is nearly full.
 * - `dns_wrong`: The name does not lead to the server in DNS, or may have no certificate; `findings` says why.
 * - `docker_failed`: Docker on the server could not do what it was asked.
 * - `docker_missing`: Docker is not installed on the server, or does not answer.
 * - `docker_too_old`: The Docker on the server is older than Slipway can work with.
 * - `domain_not_verified`: The name has not been proven to be yours yet.
 * - `domain_taken`: The name belongs to another workspace.
 * - `downtime_unconfirmed`: What was asked for takes something down for a while; the sentence says what, and `acceptDowntime` allows it.
 * - `dump_failed`: The tool that makes a backup failed on the server; what it said is in the evidence.
 * - `egress_failed`: An address that was given cannot be reached, breaks off, or shows a certificate that is not trusted.
 * - `egress_refused`: The service does not connect to this address: it is private, or otherwise not one of the internet.
 * - `email_not_verified`: The password is right, but the address has not been confirmed. A fresh code was sent.
 * - `expired_token`: A device code is unknown, expired or already used, or was asked for from elsewhere.
 * - `forbidden`: You may see this, but your role in the workspace does not allow the action.
 * - `fresh_proof_required`: The call asks for your password or second factor again, with POST /auth/confirm.
 * - `git_failed`: Git could not fetch or read the repository.
 * - `git_unavailable`: Git is missing on the machine of the service, or too old.
 * - `headers_too_large`: The request line and headers together are larger than the service accepts.
 * - `host_key_changed`: The host key of the server is not the one that was pinned. No work is done there until a person accepts the new one.
 * - `host_key_mismatch`: The server shows another host key than the one given.
 * - `idempotency_in_progress`: The first request with this Idempotency-Key is still being worked on.
 * - `idempotency_mismatch`: This Idempotency-Key came with another request before.
 * - `import_failed`: A statement of the imported file failed, so nothing of it was taken over.
 * - `import_format_unknown`: The imported file is of a kind that cannot be read.
 * - `in_use`: Something still uses this; `errors` names what.
 * - `internal_error`: Something failed on our side. The request id finds it in the log.
 * - `invalid_challenge`: The challenge of a second factor is unknown, expired, already used, was tried too often, or was begun elsewhere.
 * - `invalid_consent_token`: The link in a mail that asked for consent is unknown, expired or already used.
 * - `invalid_credentials`: The e-mail address or the password is wrong.
 * - `invalid_input`: A field is missing, unknown, or has a wrong value; `errors` lists each of them.
 * - `invalid_invitation`: The invitation is unknown, expired, withdrawn or already accepted.
 * - `invalid_otp`: The code is wrong, expired, already used, or was tried too often.
 * - `invalid_refresh_token`: The refresh token is unknown, expired or spent. Sign in again.
 * - `invalid_reset_token`: The reset link is unknown, expired or already used. Ask for a new one.
 * - `invalid_second_factor`: The code or the answer of the passkey is wrong, expired or already used.
 * - `last_owner`: The last owner of a workspace cannot leave it, or be less.
 * - `last_way_in`: The account could not be signed in to any more without it.
 * - `lockout_prevented`: A step was undone because a new login over the changed path did not succeed.
 * - `login_refused`: The server refused the key or the password.
 * - `method_not_allowed`: The path exists, but not with this method; `Allow` lists those it has.
 * - `mirrors_full`: The copies of the repositories of the workspace take all the disk that they may.
 * - `name_not_resolved`: The name of the server does not resolve to an address.
 * - `name_taken`: Another one has this name already.
 * - `no_second_factor`: The account has no second factor.
 * - `no_space`: The disk of the service is nearly full; whoever runs it has to make room.
 * - `not_found`: There is nothing here, or it is not yours.
 * - `not_on_cluster`: The environment has something that cannot run on a cluster; `errors` says what.
 * - `nothing_to_back_up`: The environment has no database and no volume with data yet.
 * - `nothing_to_roll_back`: The deployment has no release that could be put back.
 * - `nothing_to_start`: Nothing has been deployed to the environment yet.
 * - `passkey_known`: The authenticator is registered already.
 * - `passkeys_unavailable`: Passkeys do not work at the address at which the service is reached.
 * - `oidc_account_exists`: An account has this address already. It is linked only by its owner, signed in: never by the address alone.
 * - `oidc_denied`: The OpenID Connect provider did not sign the person in.
 * - `oidc_email_refused`: The OpenID Connect provider gives no address, one that it does not call confirmed, or one of another domain.
 * - `oidc_failed`: The OpenID Connect provider cannot be reached, or does not answer as one does.
 * - `oidc_linked`: The account, or who signed in at the OpenID Connect provider, is linked already.
 * - `oidc_state_invalid`: The sign-in by OpenID Connect was begun in another browser, too long ago, or has been used.
 * - `oidc_untrusted`: What the OpenID Connect provider answered did not pass the checks; nobody was signed in.
 * - `payload_too_large`: The body is larger than this operation accepts.
 * - `port_filtered`: The SSH port of the server does not answer at all, as behind a firewall.
 * - `port_refused`: The server refuses connections on its SSH port.
 * - `project_not_ready`: The project has not been analysed with success yet.
 * - `provider_failed`: The Git provider answered with an error, or with something that cannot be understood.
 * - `provider_rate_limited`: The Git provider takes no more requests for this token for now; `Retry-After` says how long.
 * - `provider_rejected`: The Git provider refuses the token: it is wrong, expired or revoked.
 * - `provider_scopes_missing`: The token is valid, but lacks a scope that this needs.
 * - `provider_unreachable`: The Git provider does not answer.
 * - `proxy_check_failed`: A new release is healthy, but does not answer through the proxy.
 * - `proxy_down`: The proxy on the server does not run, or does not answer.
 * - `proxy_failed`: The server has no proxy, or it refused what it was told.
 * - `rate_limited`: Too many requests; `Retry-After` says in how many seconds to go on.
 * - `registration_closed`: This instance does not take new accounts.
 * - `release_command_failed`: The release command of the app failed, so the new release was not started.
 * - `remote_failed`: A command on the server failed.
 * - `remote_fenced`: The server has seen a newer worker; this one may do nothing there any more.
 * - `remote_timeout`: A command on the server took longer than it may.
 * - `remote_unreachable`: The server cannot be reached over SSH.
 * - `repository_not_found`: The Git provider has no such repository, or the token may not see it.
 * - `repository_too_large`: The repository is larger than the service fetches.
 * - `removal_unconfirmed`: A change would remove what it does not name; `errors` lists what has to be confirmed.
 * - `request_timeout`: The request took too long to arrive.
 * - `restore_failed`: A backup could not be loaded; the data is as it was before.
 * - `second_factor_missing`: The workspace requires a second factor, and the account has none.
 * - `second_factor_required`: The account has a second factor, and it has to be proven with that.
 * - `server_busy`: Another operation of this kind is under way on the server.
 * - `server_full`: The server has no address left for another environment.
 * - `server_in_cluster`: The server is a member of a cluster.
 * - `server_in_swarm`: The server is in a Docker Swarm that this cluster is not.
 * - `server_not_in_network`: The server has no address by which the members of the cluster could reach it.
 * - `server_not_linked`: The environment stands on no server yet.
 * - `server_not_ready`: The server is not ready for this yet.
 * - `server_taken`: The machine is registered as another server already, here or in another workspace.
 * - `services_hold_data`: The environment has data on a server that would be left or lost.
 * - `service_data_elsewhere`: The data of a service is on another server than its environment.
 * - `service_unhealthy`: A service of the environment does not become ready.
 * - `service_version_refused`: The data of a service cannot be read by the version or kind that is wanted.
 * - `shutting_down`: The service is stopping. Try again in a moment.
 * - `signature_invalid`: The signature of a webhook delivery is missing or wrong.
 * - `slow_down`: A program looks for its answer more often than it was told to; `Retry-After` says how long to wait.
 * - `ssh_algorithms_weak`: The server offers only SSH algorithms that are no longer safe.
 * - `storage_failed`: The storage of backups did not keep or give what it promised.
 * - `storage_full`: The storage of backups has no room left.
 * - `storage_refused`: The storage of backups refuses the keys, the bucket, the folder or the rights.
 * - `storage_unreachable`: The storage of backups cannot be reached, or is out of order.
 * - `sudo_refused`: The user may not become root on the server without a password.
 * - `system_unsupported`: The operating system of the server is not one that Slipway supports.
 * - `unauthenticated`: No valid access token came with the request.
 * - `undo_failed`: An operation failed, and not everything it did could be undone.
 * - `unsupported_media_type`: The body must be sent as `application/json`.
 * - `upgrade_required`: The path becomes a stream of bytes, and the request does not ask for that.
 * - `upload_gone`: The files that were uploaded for a release are no longer kept.
 * - `uploads_full`: The uploads of the workspace take all the disk that they may.
 * - `work_lost`: Work on a server was cut off, by a restart for example, before it could end.
 * - `workspace_closing`: The workspace is being removed already.
 * - `worker_crashed`: The service stopped again and again while it worked on one step, so the step was given up.
 */
export type FaultCode = 'access_denied' | 'acme_nonsense' | 'acme_rate_limited' | 'acme_refused' | 'acme_unreachable' | 'already_finalized' | 'already_finished' | 'already_member' | 'analysis_running' | 'analysis_stopped' | 'app_bound_to_localhost' | 'app_crash_loop' | 'app_crashed' | 'app_not_found' | 'app_not_http' | 'app_not_listening' | 'app_out_of_memory' | 'app_redirects' | 'app_unhealthy' | 'app_wrong_port' | 'architectures_differ' | 'archive_invalid' | 'bad_request' | 'backup_damaged' | 'backup_incompatible' | 'backup_key_mismatch' | 'backup_last_good' | 'backup_missing' | 'backup_not_equal' | 'backup_unfinished' | 'build_failed' | 'build_lost' | 'build_out_of_memory' | 'cancelled' | 'certificate_invalid' | 'challenge_failed' | 'changed_since' | 'clock_wrong' | 'cluster_busy' | 'cluster_no_quorum' | 'cluster_ports_closed' | 'commit_not_found' | 'database_down' | 'database_unavailable' | 'deadline_exceeded' | 'disk_full' | 'dns_wrong' | 'docker_failed' | 'docker_missing' | 'docker_too_old' | 'domain_not_verified' | 'domain_taken' | 'downtime_unconfirmed' | 'dump_failed' | 'egress_failed' | 'egress_refused' | 'email_not_verified' | 'expired_token' | 'forbidden' | 'fresh_proof_required' | 'git_failed' | 'git_unavailable' | 'headers_too_large' | 'host_key_changed' | 'host_key_mismatch' | 'idempotency_in_progress' | 'idempotency_mismatch' | 'import_failed' | 'import_format_unknown' | 'in_use' | 'internal_error' | 'invalid_challenge' | 'invalid_consent_token' | 'invalid_credentials' | 'invalid_input' | 'invalid_invitation' | 'invalid_otp' | 'invalid_refresh_token' | 'invalid_reset_token' | 'invalid_second_factor' | 'last_owner' | 'last_way_in' | 'lockout_prevented' | 'login_refused' | 'method_not_allowed' | 'mirrors_full' | 'name_not_resolved' | 'name_taken' | 'no_second_factor' | 'no_space' | 'not_found' | 'not_on_cluster' | 'nothing_to_back_up' | 'nothing_to_roll_back' | 'nothing_to_start' | 'passkey_known' | 'passkeys_unavailable' | 'oidc_account_exists' | 'oidc_denied' | 'oidc_email_refused' | 'oidc_failed' | 'oidc_linked' | 'oidc_state_invalid' | 'oidc_untrusted' | 'payload_too_large' | 'port_filtered' | 'port_refused' | 'project_not_ready' | 'provider_failed' | 'provider_rate_limited' | 'provider_rejected' | 'provider_scopes_missing' | 'provider_unreachable' | 'proxy_check_failed' | 'proxy_down' | 'proxy_failed' | 'rate_limited' | 'registration_closed' | 'release_command_failed' | 'remote_failed' | 'remote_fenced' | 'remote_timeout' | 'remote_unreachable' | 'repository_not_found' | 'repository_too_large' | 'removal_unconfirmed' | 'request_timeout' | 'restore_failed' | 'second_factor_missing' | 'second_factor_required' | 'server_busy' | 'server_full' | 'server_in_cluster' | 'server_in_swarm' | 'server_not_in_network' | 'server_not_linked' | 'server_not_ready' | 'server_taken' | 'services_hold_data' | 'service_data_elsewhere' | 'service_unhealthy' | 'service_version_refused' | 'shutting_down' | 'signature_invalid' | 'slow_down' | 'ssh_algorithms_weak' | 'storage_failed' | 'storage_full' | 'storage_refused' | 'storage_unreachable' | 'sudo_refused' | 'system_unsupported' | 'unauthenticated' | 'undo_failed' | 'unsupported_media_type' | 'upgrade_required' | 'upload_gone' | 'uploads_full' | 'work_lost' | 'workspace_closing' | 'worker_crashed';

export interface FieldError {
  readonly path: string;
  readonly message: string;
}

export interface Finalization {
  /** The `path` of one of the apps found. */
  readonly app?: string | undefined;
  readonly settings?: BuildSettings | undefined;
  readonly environment: FirstEnvironment;
  /** Deploys it at once; it needs a place then. No, if not said. */
  readonly deploy?: boolean | undefined;
}

export interface FinalizedProject {
  readonly project: Project;
  readonly environment: Environment;
  readonly deployment: Deployment | null;
}

export interface FirstEnvironment {
  /** Yours to choose; once in a project. */
  readonly name: string;
  readonly branch?: string | undefined;
  readonly serverId?: string | undefined;
  readonly placement?: Placement | undefined;
  readonly variables?: readonly NewVariable[] | undefined;
  /** The wanted whole; those that the analysis calls needed, if not said. */
  readonly services?: readonly WantedService[] | undefined;
}

export interface GeneratedKey {
  readonly type: 'generated';
}

export interface GitProvider {
  readonly id: string;
  readonly provider: GitProviderKind;
  readonly baseUrl: string;
  readonly label: string;
  readonly account: {
    readonly login: string;
    readonly name: string | null;
    readonly avatarUrl: string | null;
  };
  /** `rejected`: the provider no longer takes the token. Save a new one. */
  readonly status: 'connected' | 'rejected' | 'unreachable';
  readonly problem: Fault | null;
  readonly tokenExpiresAt: string | null;
  readonly checkedAt: string;
  readonly createdAt: string;
}

/** `gitea` is for Forgejo too. */
export type GitProviderKind = 'github' | 'gitlab' | 'gitea' | 'bitbucket';

export interface GitProviderList {
  readonly items: readonly GitProvider[];
  readonly nextCursor: string | null;
}

/** An account at a Git host has changed. */
export interface GitProviderUpdatedEvent {
  readonly kind: 'git_provider_updated';
  readonly at: string;
  readonly providerId: string;
  readonly reason: 'connected' | 'token_replaced' | 'disconnected' | 'rejected' | 'unreachable';
}

export interface GivenKey {
  readonly type: 'key';
  readonly privateKey: string;
  readonly passphrase?: string | undefined;
}

export interface HardenServer {
  /** Only show the plan. */
  readonly dryRun?: boolean | undefined;
  /** All, if not said. */
  readonly steps?: readonly HardeningStepId[] | undefined;
  /** TCP ports that stay open beside SSH, 80 and 443. */
  readonly allowPorts?: readonly number[] | undefined;
  /** Of a plan that was shown: any other is refused. */
  readonly planFingerprint?: string | undefined;
}

export interface HardeningPlan {
  readonly fingerprint: string;
  readonly system: string;
  readonly steps: readonly HardeningStep[];
  readonly notes: readonly {
    readonly step: string;
    readonly text: string;
  }[];
}

export interface HardeningStep {
  readonly id: HardeningStepId;
  readonly title: string;
  readonly why: string;
  readonly lockoutRisk: boolean;
  readonly packages: readonly string[];
  readonly files: readonly {
    readonly path: string;
    readonly mode: string;
    /** Unified. */
    readonly diff: string;
  }[];
  readonly commands: readonly (readonly string[])[];
}

export type HardeningStepId = 'updates' | 'unattended_upgrades' | 'accounts' | 'file_modes' | 'sysctl' | 'kernel_modules' | 'auditing' | 'firewall' | 'docker_ports' | 'fail2ban' | 'banner' | 'ssh_settings' | 'ssh_algorithms' | 'ssh_no_root' | 'ssh_no_passwords';

export interface Health {
  readonly status: 'ok';
}

export interface HealthSettings {
  readonly path?: string | null | undefined;
  /** The port of the app, if not said. */
  readonly port?: number | undefined;
  /** How long one answer may take. 5 if not said. */
  readonly timeoutSeconds?: number | undefined;
  /** How long it may take until the first good answer. 60 if not said. */
  readonly startSeconds?: number | undefined;
}

export interface ImportedFile {
  /** Before the file; or in the query. */
  readonly serviceId?: string | undefined;
  /** `.sql`, `.sql.gz`, `.sql.zst`, or a dump of the database’s own tool; recognised by content. */
  readonly file: Blob;
}

export interface Installation {
  readonly version: string;
  readonly registration: 'open' | 'first' | 'closed';
  /** What the settings say. */
  readonly registrationSetting: 'open' | 'first' | 'closed';
  readonly operators: readonly {
    readonly id: string;
    readonly email: string;
    readonly name: string | null;
  }[];
  /** Up to 10,000. */
  readonly accounts: number;
  /** Where mail goes. */
  readonly mail: string;
  /** As the settings say. */
  readonly limits: {
    readonly requests: number;
    readonly signIn: number;
    readonly search: number;
    readonly triggers: number;
    readonly streams: number;
  };
  readonly auditDays: number;
  readonly oidc: InstallationOidc | null;
}

export interface InstallationChange {
  readonly registration?: 'open' | 'first' | 'closed' | null | undefined;
  /** The accounts that look after the installation: these and no others. */
  readonly operatorIds?: readonly string[] | undefined;
}

/** Sign-in by OpenID Connect; null where it is not set up. */
export interface InstallationOidc {
  readonly issuer: string;
  /** What `SLIPWAY_OIDC_ROLES` names and is not here: its groups give nobody a role in it. */
  readonly unknownWorkspaces: readonly {
    readonly workspaceId: string;
    readonly groups: readonly string[];
  }[];
}

export interface Invitation {
  readonly id: string;
  readonly email: string;
  /** A `viewer` looks; a `member` deploys and changes, too; an `admin` also manages servers, accounts and members; an `owner` also owners, and the end of the workspace. */
  readonly role: 'owner' | 'admin' | 'member' | 'viewer';
  readonly projects: readonly {
    readonly projectId: string;
    /** What they are in it. */
    readonly role: 'admin' | 'member' | 'viewer';
  }[] | null;
  readonly invitedBy: string | null;
  readonly expiresAt: string;
  readonly createdAt: string;
}

export interface InvitationPage {
  readonly items: readonly Invitation[];
  readonly nextCursor: string | null;
}

export interface InvitationRequest {
  /** An e-mail address; case does not matter. */
  readonly email: string;
  /** A `viewer` looks; a `member` deploys and changes, too; an `admin` also manages servers, accounts and members; an `owner` also owners, and the end of the workspace. */
  readonly role: 'owner' | 'admin' | 'member' | 'viewer';
  readonly projects?: readonly {
    readonly projectId: string;
    /** What they are in it. */
    readonly role: 'admin' | 'member' | 'viewer';
  }[] | null | undefined;
}

export interface JoinedWorkspace {
  readonly workspaceId: string;
  /** A `viewer` looks; a `member` deploys and changes, too; an `admin` also manages servers, accounts and members; an `owner` also owners, and the end of the workspace. */
  readonly role: 'owner' | 'admin' | 'member' | 'viewer';
  readonly projects: readonly {
    readonly projectId: string;
    /** What they are in it. */
    readonly role: 'admin' | 'member' | 'viewer';
  }[] | null;
}

/** The newest, whatever became of it. */
export interface LastDeployment {
  readonly id: string;
  readonly number: number;
  readonly status: DeploymentStatus;
  readonly message: string | null;
  readonly queuedAt: string;
  readonly finishedAt: string | null;
}

export interface LinkedEnvironment {
  readonly environment: Environment;
  readonly deployment: {
    readonly id: string;
    readonly status: 'queued';
  } | null;
}

export type ListedService = Service & {
  /** Variables of the application that have its URL. The values are not shown to anyone. */
  readonly variables: readonly string[];
  /** There is a volume of it on the server. */
  readonly hasData: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly removedAt: string | null;
};

export interface LocalDestination {
  readonly type: 'local';
}

/** The environment is gone; the last event. */
export interface LogEndEvent {
  readonly kind: 'end';
  readonly at: string;
}

export type LogEvent = LogLineEvent | LogStateEvent | LogProblemEvent | LogEndEvent;

/** A line of the app; `at` is when it was printed. */
export interface LogLineEvent {
  readonly kind: 'line';
  readonly at: string;
  readonly container: string;
  readonly process: string;
  readonly replica: number;
  /** Where it was printed. */
  readonly serverId: string;
  readonly stream: 'stdout' | 'stderr';
  readonly line: string;
}

/** The server cannot be asked for now; it is tried again. */
export interface LogProblemEvent {
  readonly kind: 'problem';
  readonly at: string;
  readonly code: FaultCode;
  readonly message: string;
  readonly hint?: string;
}

/** The containers, whenever one of them has changed. */
export interface LogStateEvent {
  readonly kind: 'state';
  readonly at: string;
  readonly containers: readonly Container[];
}

export interface LoginRequest {
  /** An e-mail address; case does not matter. */
  readonly email: string;
  readonly password: string;
  /** Where the refresh token goes: an HttpOnly cookie (default), or the body for clients without cookies. */
  readonly refreshTokenIn?: 'cookie' | 'body' | undefined;
}

export interface Member {
  readonly account: {
    readonly id: string;
    readonly email: string;
    readonly name: string | null;
  };
  /** A `viewer` looks; a `member` deploys and changes, too; an `admin` also manages servers, accounts and members; an `owner` also owners, and the end of the workspace. */
  readonly role: 'owner' | 'admin' | 'member' | 'viewer';
  readonly projects: readonly {
    readonly projectId: string;
    /** What they are in it. */
    readonly role: 'admin' | 'member' | 'viewer';
  }[] | null;
  /** Whether the account has one. */
  readonly secondFactor: boolean;
  readonly joinedAt: string;
}

export interface MemberChange {
  /** A `viewer` looks; a `member` deploys and changes, too; an `admin` also manages servers, accounts and members; an `owner` also owners, and the end of the workspace. */
  readonly role?: 'owner' | 'admin' | 'member' | 'viewer' | undefined;
  readonly projects?: readonly {
    readonly projectId: string;
    /** What they are in it. */
    readonly role: 'admin' | 'member' | 'viewer';
  }[] | null | undefined;
}

export interface MemberPage {
  readonly items: readonly Member[];
  readonly nextCursor: string | null;
}

export interface NeededService {
  readonly kind: 'postgres' | 'mysql' | 'mariadb' | 'mongodb' | 'redis';
  readonly version: string | null;
  readonly reason: string;
  readonly certainty: 'needed' | 'probable';
  readonly apps: readonly string[];
}

export interface NeededVariable {
  readonly key: string;
  readonly required: boolean;
  readonly secret: boolean;
  /** Read while building. */
  readonly build: boolean;
  readonly default: string | null;
  readonly given: 'service' | 'generate' | null;
  readonly reason: string;
  readonly apps: readonly string[];
}

export interface NewApiToken {
  readonly id: string;
  readonly name: string;
  /** Its first characters, to know it by. */
  readonly start: string;
  /** `read`; `deploy` (and read); `change` (and deploy); `manage` (and change); `read_secrets` (and read): what hands out data or passwords. What its maker may not do, the token may not either. */
  readonly abilities: readonly ('read' | 'deploy' | 'change' | 'manage' | 'read_secrets')[];
  readonly projectId: string | null;
  readonly createdBy: {
    readonly id: string;
    readonly email: string;
  };
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
  readonly createdAt: string;
  /** The token itself: shown this once, and stored only as a hash. Not there where an `Idempotency-Key` was repeated. */
  readonly token?: string;
}

export interface NewCluster {
  /** Yours to choose; once in a workspace. */
  readonly name: string;
  /** Servers of yours that are `ready`, in no cluster, and have no environment. */
  readonly serverIds: readonly string[];
  /** The private network over which members speak. Without it, each speaks by the address that Slipway logs in to. */
  readonly network?: string | undefined;
}

export interface NewClusterServers {
  /** Servers of yours that are `ready`, in no cluster, and have no environment. */
  readonly serverIds: readonly string[];
}

export interface NewDiscordConnector {
  readonly type: 'discord';
  readonly name: string;
  readonly config: DiscordConfig;
  /** What it listens to; everything but starts and cancellations of deployments, if not said. */
  readonly events?: readonly NoticeKind[] | undefined;
  /** Whether it hears of every project, or only of those it is linked to; the latter, if not said. */
  readonly allProjects?: boolean | undefined;
  /** Yes, if not said. */
  readonly enabled?: boolean | undefined;
}

export interface NewDomain {
  /** In either form: `bücher.example` or its A-labels. */
  readonly hostname: string;
}

export interface NewEmailConnector {
  readonly type: 'email';
  readonly name: string;
  readonly config: EmailConfig;
  /** What it listens to; everything but starts and cancellations of deployments, if not said. */
  readonly events?: readonly NoticeKind[] | undefined;
  /** Whether it hears of every project, or only of those it is linked to; the latter, if not said. */
  readonly allProjects?: boolean | undefined;
  /** Yes, if not said. */
  readonly enabled?: boolean | undefined;
}

export interface NewEnvironment {
  readonly projectId: string;
  /** Yours to choose; once in a project. */
  readonly name: string;
  /** The branch that was analysed, if not said. */
  readonly branch?: string | undefined;
  readonly serverId?: string | undefined;
  readonly placement?: Placement | undefined;
  readonly settings?: EnvironmentSettings | undefined;
  readonly variables?: readonly NewVariable[] | undefined;
  /** The wanted whole; those that the analysis calls needed, if not said. */
  readonly services?: readonly WantedService[] | undefined;
  /** Whether a push to the branch is deployed; false if not said. */
  readonly autoDeploy?: boolean | undefined;
}

export interface NewGitToken {
  readonly provider: GitProviderKind;
  /** A personal or project access token. Checked with the provider, sealed, and never shown again. */
  readonly token: string;
  /** Of a host of your own, as you open it in a browser. Absent: the provider’s public one. */
  readonly baseUrl?: string | undefined;
  /** Only for Bitbucket app passwords and API tokens: the account they belong to. */
  readonly username?: string | undefined;
  /** Yours to choose; the login of the account if not said. */
  readonly label?: string | undefined;
}

export type NewNotificationConnector = NewSlackConnector | NewDiscordConnector | NewTelegramConnector | NewTeamsConnector | NewEmailConnector | NewWebhookConnector;

export interface NewPasskey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  /** Only with the first factor of the account. Ten, shown this once: each works once in place of a second factor. */
  readonly recoveryCodes?: readonly string[];
}

export interface NewProject {
  /** Yours to choose; once in a workspace. */
  readonly name: string;
  readonly repository: ProviderRepository | UrlRepository;
  readonly branch?: string | undefined;
  /** The folder to look at; the root of the repository if not said. */
  readonly rootDirectory?: string | undefined;
}

export type NewProjectWebhook = ProjectWebhook & {
  readonly secret: string | null;
};

export interface NewServer {
  /** Yours to choose; once in a workspace. */
  readonly name: string;
  /** A name or an address, of the internet or of a network that the instance allows. */
  readonly host: string;
  /** Of its SSH server; 22 if not said. */
  readonly port?: number | undefined;
  /** Who we log in as; `root` if not said. Anyone else needs sudo. */
  readonly username?: string | undefined;
  /** `generated`: we make a key, and you install its public half. `key`: we use yours. `password`: used once to install a key of ours, then forgotten. */
  readonly auth: GeneratedKey | GivenKey | PasswordOnce;
  /** Of the host key, as `ssh-keygen -lf` prints it. Without it, the key is pinned at first contact. */
  readonly hostKeyFingerprint?: string | undefined;
}

export interface NewSlackConnector {
  readonly type: 'slack';
  readonly name: string;
  readonly config: SlackConfig;
  /** What it listens to; everything but starts and cancellations of deployments, if not said. */
  readonly events?: readonly NoticeKind[] | undefined;
  /** Whether it hears of every project, or only of those it is linked to; the latter, if not said. */
  readonly allProjects?: boolean | undefined;
  /** Yes, if not said. */
  readonly enabled?: boolean | undefined;
}

export interface NewTeamsConnector {
  readonly type: 'teams';
  readonly name: string;
  readonly config: TeamsConfig;
  /** What it listens to; everything but starts and cancellations of deployments, if not said. */
  readonly events?: readonly NoticeKind[] | undefined;
  /** Whether it hears of every project, or only of those it is linked to; the latter, if not said. */
  readonly allProjects?: boolean | undefined;
  /** Yes, if not said. */
  readonly enabled?: boolean | undefined;
}

export interface NewTelegramConnector {
  readonly type: 'telegram';
  readonly name: string;
  readonly config: TelegramConfig;
  /** What it listens to; everything but starts and cancellations of deployments, if not said. */
  readonly events?: readonly NoticeKind[] | undefined;
  /** Whether it hears of every project, or only of those it is linked to; the latter, if not said. */
  readonly allProjects?: boolean | undefined;
  /** Yes, if not said. */
  readonly enabled?: boolean | undefined;
}

export interface NewVariable {
  readonly key: string;
  /** Any text; no environment can carry a zero byte. */
  readonly value: string;
  /** Never shown again; true if not said. */
  readonly secret?: boolean | undefined;
  /** When it is there; `both` if not said. */
  readonly target?: 'build' | 'runtime' | 'both' | undefined;
}

export interface NewVariables {
  readonly variables: readonly NewVariable[];
}

export interface NewWebhookConnector {
  readonly type: 'webhook';
  readonly name: string;
  readonly config: WebhookConfig;
  /** What it listens to; everything but starts and cancellations of deployments, if not said. */
  readonly events?: readonly NoticeKind[] | undefined;
  /** Whether it hears of every project, or only of those it is linked to; the latter, if not said. */
  readonly allProjects?: boolean | undefined;
  /** Yes, if not said. */
  readonly enabled?: boolean | undefined;
}

export type NoticeKind = 'deployment_started' | 'deployment_succeeded' | 'deployment_failed' | 'deployment_cancelled' | 'environment_degraded' | 'environment_recovered' | 'backup_failed' | 'backup_missed' | 'backup_recovered' | 'certificate_failing' | 'certificate_expiring' | 'domain_lost' | 'server_unreachable' | 'server_back' | 'server_host_key_changed' | 'server_security_worse' | 'cluster_degraded' | 'cluster_no_quorum' | 'cluster_unreachable' | 'cluster_recovered' | 'token_revoked';

export interface NotificationConnector {
  readonly id: string;
  readonly type: 'slack' | 'discord' | 'telegram' | 'teams' | 'email' | 'webhook';
  readonly name: string;
  readonly events: readonly NoticeKind[];
  readonly allProjects: boolean;
  /** Where it leads, as far as it is shown. */
  readonly target: string;
  /** Of a connector of mail; none otherwise. */
  readonly recipients: readonly {
    readonly address: string;
    /** Members of the workspace get mail at once. Everyone else is asked by one mail, and gets nothing else until they agree; who declines gets nothing of this workspace any more. */
    readonly status: 'member' | 'pending' | 'confirmed' | 'declined';
  }[];
  readonly enabled: boolean;
  readonly disabledReason: string | null;
  readonly failingSince: string | null;
  readonly lastDelivery: {
    readonly id: string;
    readonly event: string;
    /** `pending` waits for its first or next try. `unknown`: it may have arrived, and is not sent again because the receiver could not tell a repeat. */
    readonly status: 'pending' | 'sending' | 'delivered' | 'failed' | 'unknown';
    readonly at: string;
  } | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface NotificationConnectorChange {
  readonly name?: string | undefined;
  readonly events?: readonly NoticeKind[] | undefined;
  /** Whether it hears of every project, or only of those it is linked to; the latter, if not said. */
  readonly allProjects?: boolean | undefined;
  /** One that is switched on again begins with a clean sheet. */
  readonly enabled?: boolean | undefined;
  /** Of the same type, whole. A webhook keeps its `secret` where it is left out. */
  readonly config?: { readonly [name: string]: string | readonly string[] } | undefined;
}

export interface NotificationConnectorList {
  readonly items: readonly NotificationConnector[];
  readonly nextCursor: string | null;
}

export interface NotificationDelivery {
  readonly id: string;
  /** The kind of notice, or `test`. */
  readonly event: string;
  /** `pending` waits for its first or next try. `unknown`: it may have arrived, and is not sent again because the receiver could not tell a repeat. */
  readonly status: 'pending' | 'sending' | 'delivered' | 'failed' | 'unknown';
  readonly attempts: number;
  readonly answerStatus: number | null;
  readonly latencyMs: number | null;
  readonly detail: string | null;
  readonly messageId: string | null;
  readonly subject: {
    readonly type: string;
    readonly id: string;
  } | null;
  readonly projectId: string | null;
  readonly environmentId: string | null;
  readonly createdAt: string;
  readonly attemptedAt: string | null;
  readonly finishedAt: string | null;
}

export interface NotificationDeliveryList {
  readonly items: readonly NotificationDelivery[];
  readonly nextCursor: string | null;
}

export interface NotificationTest {
  readonly delivered: boolean;
  readonly status: number | null;
  readonly latencyMs: number;
  /** What the receiver answered, or why there was no answer. */
  readonly detail: string;
}

export interface Oidc {
  readonly enabled: boolean;
  readonly name: string | null;
}

export interface OidcAddress {
  /** Where to send this browser: it has got a cookie that it must come back with. */
  readonly url: string;
}

export interface OidcBeginRequest {
  /** Where the browser is sent afterwards: a path of this address. `/` if not said. */
  readonly returnTo?: string | undefined;
  /** The token of an invitation: whoever it was sent to joins by signing in. For somebody new it counts where the provider names that address. */
  readonly invitation?: string | undefined;
}

export interface OidcIdentity {
  readonly issuer: string;
  readonly email: string | null;
  /** Whether it is the provider that is set up now. */
  readonly isCurrent: boolean;
  /** The account has no password: it cannot be unlinked. */
  readonly isOnlyWayIn: boolean;
  readonly createdAt: string;
  readonly lastUsedAt: string;
}

export interface OidcLink {
  readonly linked: OidcIdentity | null;
}

export interface OidcLinkRequest {
  /** Where the browser is sent afterwards: a path of this address. `/` if not said. */
  readonly returnTo?: string | undefined;
}

export interface Operation {
  readonly id: string;
  readonly kind: string;
  readonly subject: {
    readonly type: string;
    readonly id: string;
  } | null;
  readonly status: OperationStatus;
  readonly step: string | null;
  readonly progress: {
    readonly fraction: number;
    readonly text: string | null;
  } | null;
  /** What it gave, once it has succeeded. */
  readonly result: unknown;
  readonly fault: Fault | null;
  readonly requestedBy: string | null;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  /** In order; not in lists. */
  readonly steps?: readonly OperationStep[];
}

/** It is over; the last event. */
export interface OperationEndEvent {
  readonly kind: 'end';
  readonly at: string;
  readonly status: 'succeeded' | 'failed' | 'cancelled';
  readonly fault?: Fault;
}

export type OperationEvent = OperationStatusEvent | StepProgressEvent | StepLogEvent | OperationEndEvent | ResetEvent;

export interface OperationList {
  readonly items: readonly Operation[];
  readonly nextCursor: string | null;
}

/** `succeeded`, `failed` and `cancelled` are final. */
export type OperationStatus = 'queued' | 'running' | 'cancelling' | 'succeeded' | 'failed' | 'cancelled';

/** Its status, or that of one of its steps, has changed. */
export interface OperationStatusEvent {
  readonly kind: 'status';
  readonly at: string;
  readonly status: OperationStatus;
  /** The step that it is at. */
  readonly step?: string;
  readonly stepStatus?: 'running' | 'waiting' | 'done' | 'failed' | 'undoing' | 'undone';
  readonly attempt?: number;
  /** How long it waits before it tries again. */
  readonly waitMs?: number;
  /** From here on it undoes what it did; how it will end. */
  readonly unwinding?: 'failed' | 'cancelled';
  readonly fault?: Fault;
}

export interface OperationStep {
  readonly name: string;
  readonly status: 'running' | 'waiting' | 'done' | 'failed' | 'undoing' | 'undone';
  readonly attempt: number;
  readonly startedAt: string;
  readonly finishedAt: string | null;
}

/** The status of an operation has changed. */
export interface OperationUpdatedEvent {
  readonly kind: 'operation_updated';
  readonly at: string;
  readonly operationId: string;
  readonly operationKind: string;
  /** Where it is about one. */
  readonly projectId?: string;
  readonly status: OperationStatus;
}

export interface Passkey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

/** `toJSON()` of what the browser gave. */
export interface PasskeyAssertion {
  /** Of the credential. */
  readonly id: string;
  /** The same. */
  readonly rawId: string;
  readonly type: 'public-key';
  readonly response: {
    /** What the browser says that it asked for. */
    readonly clientDataJSON: string;
    /** What the authenticator says of itself. */
    readonly authenticatorData: string;
    /** Over both. */
    readonly signature: string;
    /** Whom the passkey was made for. */
    readonly userHandle?: string | undefined;
  };
  /** Not looked at. */
  readonly authenticatorAttachment?: 'platform' | 'cross-platform' | undefined;
  /** Not looked at. */
  readonly clientExtensionResults?: {
    readonly appid?: boolean | undefined;
    readonly credProps?: {
      readonly rk?: boolean | undefined;
    } | undefined;
  } | undefined;
}

/** For `PublicKeyCredential.parseRequestOptionsFromJSON()` and `navigator.credentials.get()`. */
export interface PasskeyAssertionOptions {
  readonly challenge: string;
  readonly rpId: string;
  readonly allowCredentials: readonly PasskeyDescriptor[];
  readonly userVerification: 'preferred';
  /** In milliseconds. */
  readonly timeout: number;
}

/** `toJSON()` of what the browser gave. */
export interface PasskeyAttestation {
  /** Of the credential. */
  readonly id: string;
  /** The same. */
  readonly rawId: string;
  readonly type: 'public-key';
  readonly response: {
    /** What the browser says that it asked for. */
    readonly clientDataJSON: string;
    /** The new key, in CBOR. */
    readonly attestationObject: string;
    /** Part of the same. */
    readonly authenticatorData?: string | undefined;
    /** Part of the same. */
    readonly publicKey?: string | undefined;
    /** Part of the same. */
    readonly publicKeyAlgorithm?: number | undefined;
    readonly transports?: readonly string[] | undefined;
  };
  /** Not looked at. */
  readonly authenticatorAttachment?: 'platform' | 'cross-platform' | undefined;
  /** Not looked at. */
  readonly clientExtensionResults?: {
    readonly appid?: boolean | undefined;
    readonly credProps?: {
      readonly rk?: boolean | undefined;
    } | undefined;
  } | undefined;
}

/** For `PublicKeyCredential.parseCreationOptionsFromJSON()` and `navigator.credentials.create()`. */
export interface PasskeyAttestationOptions {
  readonly rp: {
    readonly id: string;
    readonly name: string;
  };
  readonly user: {
    readonly id: string;
    readonly name: string;
    readonly displayName: string;
  };
  readonly challenge: string;
  readonly pubKeyCredParams: readonly {
    readonly type: 'public-key';
    readonly alg: number;
  }[];
  /** In milliseconds. */
  readonly timeout: number;
  readonly excludeCredentials: readonly PasskeyDescriptor[];
  readonly authenticatorSelection: {
    readonly residentKey: 'preferred';
    readonly userVerification: 'preferred';
  };
  readonly attestation: 'none';
}

export interface PasskeyChallenge {
  readonly challenge: string;
  readonly options: PasskeyAttestationOptions;
  readonly expiresAt: string;
}

export interface PasskeyChange {
  /** To know it by. */
  readonly name: string;
}

export interface PasskeyDescriptor {
  readonly id: string;
  readonly type: 'public-key';
  readonly transports: readonly string[];
}

export interface PasskeyProof {
  readonly method: 'passkey';
  readonly credential: PasskeyAssertion;
  /** As it was given. */
  readonly challenge: string;
}

export interface PasskeyRequest {
  /** To know it by. */
  readonly name: string;
  /** As it was given. */
  readonly challenge: string;
  readonly credential: PasskeyAttestation;
}

export interface PasskeySignIn {
  /** As it was given. */
  readonly challenge: string;
  /** Where the refresh token goes: an HttpOnly cookie (default), or the body for clients without cookies. */
  readonly refreshTokenIn?: 'cookie' | 'body' | undefined;
  readonly method: 'passkey';
  readonly credential: PasskeyAssertion;
}

export interface PasswordOnce {
  readonly type: 'password';
  readonly password: string;
}

export interface PasswordProof {
  readonly password: string;
}

/** A server, or a cluster as a whole. */
export type Placement = {
  readonly serverId: string;
} | {
  readonly clusterId: string;
  /** As the setting. */
  readonly replicas?: number | undefined;
  /** As the setting. */
  readonly spread?: 'even' | 'packed' | undefined;
};

/** Every error of the API has this shape (RFC 9457). */
export interface Problem {
  /** Names the kind of problem; the code as a URN. */
  readonly type: string;
  /** The status in words. */
  readonly title: string;
  readonly status: number;
  /** What happened, as a sentence for a person. */
  readonly detail: string;
  /** The path that was asked for. */
  readonly instance: string;
  readonly code: FaultCode;
  /** Finds the request in the log; also in the header `X-Request-Id`. */
  readonly requestId: string;
  /** What would help. */
  readonly hint?: string;
  /** For invalid input: each wrong field, and what would be right. */
  readonly errors?: readonly FieldError[];
  /** For `dns_wrong`: all that was seen in DNS. */
  readonly findings?: readonly DomainFinding[];
}

export interface ProcessSettings {
  readonly command?: string | undefined;
  /** None switches it off. */
  readonly replicas?: number | undefined;
  /** Minute, hour, day, month, weekday, in UTC, or a shorthand such as `@daily`: run then, instead of all the time. */
  readonly schedule?: string | undefined;
}

export interface Project {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly repository: ProjectRepository;
  readonly branch: string | null;
  readonly rootDirectory: string;
  readonly status: 'draft' | 'analyzing' | 'ready' | 'active' | 'failed';
  readonly analysis: ProjectAnalysis;
  readonly environments: readonly Environment[];
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface ProjectAnalysis {
  readonly status: AnalysisStatus;
  readonly operationId: string | null;
  readonly commit: AnalysedCommit | null;
  /** Not in lists. */
  readonly result?: AnalysisResult | null;
  readonly fault: Fault | null;
}

export interface ProjectChange {
  /** Yours to choose; once in a workspace. */
  readonly name?: string | undefined;
  readonly branch?: string | null | undefined;
  /** The folder to look at; the root of the repository if not said. */
  readonly rootDirectory?: string | undefined;
}

export interface ProjectDockerfile {
  readonly app: string;
  /** False where the repository has its own. */
  readonly isGenerated: boolean;
  readonly dockerfile: string;
  readonly dockerignore: string | null;
  /** Why each part is as it is. */
  readonly explanation: readonly {
    readonly stage: string;
    readonly line: number;
    readonly why: string;
  }[];
}

export interface ProjectList {
  readonly items: readonly Project[];
  readonly nextCursor: string | null;
}

export interface ProjectNotificationLinks {
  readonly projectId: string;
  readonly connectorIds: readonly string[];
  readonly events: readonly NoticeKind[] | null;
}

export interface ProjectNotifications {
  /** All that are to hear of the project. */
  readonly connectorIds: readonly string[];
  readonly events?: readonly NoticeKind[] | null | undefined;
}

export interface ProjectRepository {
  readonly providerId: string | null;
  readonly kind: 'github' | 'gitlab' | 'gitea' | 'bitbucket' | 'url';
  readonly fullName: string;
  readonly cloneUrl: string;
  readonly webUrl: string | null;
  readonly deployKey: string | null;
}

/** A project, or something of it, has changed. */
export interface ProjectUpdatedEvent {
  readonly kind: 'project_updated';
  readonly at: string;
  readonly projectId: string;
  /** What of it. */
  readonly reason: 'created' | 'changed' | 'deleted' | 'analysis' | 'finalized' | 'deployment' | 'environment' | 'environment_created' | 'environment_changed' | 'environment_deleted' | 'variables' | 'branch' | 'server' | 'auto_deploy' | 'services' | 'services_ready' | 'domain';
  readonly environmentId?: string;
  readonly deploymentId?: string;
  /** The new status of what the reason names. */
  readonly status?: string;
}

export interface ProjectWebhook {
  readonly address: string;
  /** Made at the provider by us. If not, paste address and secret in there. */
  readonly installed: boolean;
  readonly problem: Fault | null;
  readonly lastHeardAt: string | null;
  readonly updatedAt: string;
}

export interface ProviderRepository {
  readonly providerId: string;
  /** `owner/name`, or the provider’s numeric id. */
  readonly fullName: string;
}

export type PushReason = 'deployed' | 'branch_deleted' | 'no_branch' | 'other_branch' | 'environment_off' | 'no_server' | 'environment_stopped' | 'skip_requested' | 'paths_not_watched' | 'duplicate' | 'outdated' | 'unconfirmed' | 'no_environment' | 'no_push' | 'other_repository' | 'signature_invalid' | 'unreadable';

export interface Readiness {
  readonly status: 'ready';
}

export interface ReceivedDelivery {
  /** What became of each push that it told of. */
  readonly outcomes: readonly {
    readonly reason: PushReason;
    readonly message: string;
  }[];
}

export interface RecipientAnswer {
  readonly token: string;
  /** The token of an unsubscribe link only declines. */
  readonly answer: 'confirm' | 'decline';
}

export interface RecoveryCodeProof {
  readonly method: 'recovery_code';
  /** Case, spaces and dashes do not matter. */
  readonly code: string;
}

export interface RecoveryCodeSignIn {
  /** As it was given. */
  readonly challenge: string;
  /** Where the refresh token goes: an HttpOnly cookie (default), or the body for clients without cookies. */
  readonly refreshTokenIn?: 'cookie' | 'body' | undefined;
  readonly method: 'recovery_code';
  /** Case, spaces and dashes do not matter. */
  readonly code: string;
}

export interface RecoveryCodes {
  /** Ten, shown this once: each works once in place of a second factor. Keep them where the phone is not. */
  readonly recoveryCodes: readonly string[];
}

export interface RecoveryCodesLeft {
  /** How many were not used yet. */
  readonly left: number;
  readonly madeAt: string;
}

export interface RefreshRequest {
  /** Where it was given in a body; else the cookie is used. */
  readonly refreshToken?: string | undefined;
}

/** The same for every address, whether it has an account or not. */
export interface RegisterAnswer {
  readonly email: string;
  readonly otpRequired: true;
  readonly otpExpiresAt: string;
}

export interface RegisterRequest {
  /** An e-mail address; case does not matter. */
  readonly email: string;
  /** 10 to 128 characters, not among the most common passwords. */
  readonly password: string;
  readonly name?: string | undefined;
  /** The token of an invitation to this address, also where registration is closed. You are in that workspace once the address is confirmed, and get none of your own. */
  readonly invitation?: string | undefined;
}

export interface Repository {
  readonly providerId: string;
  /** The provider’s own id. */
  readonly id: string;
  readonly fullName: string;
  readonly name: string;
  readonly owner: string;
  readonly description: string | null;
  readonly isPrivate: boolean;
  readonly isArchived: boolean;
  readonly isFork: boolean;
  readonly defaultBranch: string | null;
  readonly cloneUrl: string;
  readonly webUrl: string;
  readonly pushedAt: string | null;
}

export interface RepositoryAnalysis {
  readonly commit: AnalysedCommit;
  readonly result: AnalysisResult;
}

export interface RepositoryList {
  readonly items: readonly Repository[];
  readonly nextCursor: string | null;
  /** Accounts that could not be asked; the others are in `items` all the same. */
  readonly warnings: readonly {
    readonly providerId: string;
    readonly code: string;
    readonly message: string;
  }[];
}

/** What was before is no longer kept: load anew what you show. */
export interface ResetEvent {
  readonly kind: 'reset';
  readonly at: string;
  readonly reason: string;
}

export interface ResetPasswordRequest {
  /** From the link in the mail. */
  readonly token: string;
  /** 10 to 128 characters, not among the most common passwords. */
  readonly password: string;
}

/** The most that each container may use, by the settings or by the size of the server; from the next deployment on. Null without a server, or before it was reached. */
export interface Resources {
  readonly memoryMb: {
    /** In MB. */
    readonly limit: number;
    /** `server`: what was set is more than the server can give. */
    readonly source: 'setting' | 'default' | 'server';
  };
  readonly cpus: {
    /** Of one processor each. */
    readonly limit: number;
    /** `server`: what was set is more than the server can give. */
    readonly source: 'setting' | 'default' | 'server';
  };
}

export interface RestoreWish {
  /** One service alone out of a backup of several. */
  readonly serviceId?: string | undefined;
  /** Whether what is there now is backed up first; yes, if not said. */
  readonly safetyBackup?: boolean | undefined;
}

export interface RollbackRequest {
  /** The variables that the release was made with, or those of today; `then` if not said. */
  readonly variables?: 'then' | 'now' | undefined;
}

export interface RollingReboot {
  /** Installs security updates first. No, if not said. */
  readonly update?: boolean | undefined;
  /** With fewer than three managers, or with data of environments, something is down meanwhile; without this it is refused. */
  readonly acceptDowntime?: boolean | undefined;
  /** How long each may take to come back; 10 if not said. */
  readonly backWithinMinutes?: number | undefined;
}

/** Its secret is never shown. */
export interface S3Destination {
  readonly type: 's3';
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly accessKeyId: string;
}

export interface SavedServer {
  readonly serverId: string;
}

export interface SecondFactorChallenge {
  readonly challenge: string;
  /** What can be proven with; none where the account has no second factor. */
  readonly methods: readonly ('totp' | 'passkey' | 'recovery_code')[];
  readonly passkey?: PasskeyAssertionOptions;
  readonly expiresAt: string;
}

/** The password is right, and a second factor is asked for. */
export interface SecondFactorNeeded {
  readonly secondFactor: SecondFactorChallenge;
}

export type SecondFactorRequest = TotpSignIn | RecoveryCodeSignIn | PasskeySignIn;

export interface SecondFactors {
  readonly totp: TotpFactor | null;
  readonly passkeys: readonly Passkey[];
  readonly recoveryCodes: RecoveryCodesLeft | null;
}

export interface SecurityCheck {
  readonly id: string;
  readonly title: string;
  readonly status: 'pass' | 'warn' | 'fail' | 'unknown' | 'not_applicable';
  readonly severity: 'low' | 'medium' | 'high' | 'critical';
  /** What decided it, in the server’s own words. */
  readonly evidence: string;
  /** What you can do about it. */
  readonly fix: string;
  /** Whether the fix, done wrong, can shut you out. */
  readonly lockoutRisk: boolean;
}

export interface Server {
  readonly id: string;
  /** Yours to choose; once in a workspace. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly hostKeyFingerprint: string | null;
  readonly offeredHostKeyFingerprint: string | null;
  /** Ours, for the `authorized_keys` of the user. */
  readonly publicKey: string;
  readonly status: 'pending' | 'ready' | 'unreachable' | 'host_key_changed';
  readonly problem: Fault | null;
  readonly facts: ServerFacts | null;
  readonly clusterId: string | null;
  readonly security: ServerSecuritySummary;
  readonly provisionedAt: string | null;
  readonly lastSeenAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface ServerChange {
  /** Yours to choose; once in a workspace. */
  readonly name?: string | undefined;
  /** A name or an address, of the internet or of a network that the instance allows. */
  readonly host?: string | undefined;
  /** Of its SSH server; 22 if not said. */
  readonly port?: number | undefined;
  /** Who we log in as; `root` if not said. Anyone else needs sudo. */
  readonly username?: string | undefined;
  /** Pins this host key instead of the one before. Compare it with the server’s own console first. */
  readonly acceptHostKey?: string | undefined;
}

export interface ServerFacts {
  readonly os: string;
  readonly arch: string;
  readonly cpus: number;
  readonly memoryMb: number;
  readonly diskFreeMb: number;
  readonly dockerVersion: string | null;
  readonly kernel: string;
}

export interface ServerLink {
  readonly serverId?: string | null | undefined;
  readonly placement?: Placement | undefined;
  /** Leaves the data of services and volumes on the old server; they begin empty on the new one. */
  readonly leaveData?: boolean | undefined;
}

export interface ServerList {
  readonly items: readonly Server[];
  readonly nextCursor: string | null;
}

export type ServerSecurity = ServerSecuritySummary & {
  readonly checks: readonly SecurityCheck[];
};

export interface ServerSecuritySummary {
  readonly state: 'unknown' | 'at_risk' | 'fair' | 'hardened';
  readonly score: number | null;
  readonly checkedAt: string | null;
}

/** A server has changed. */
export interface ServerUpdatedEvent {
  readonly kind: 'server_updated';
  readonly at: string;
  readonly serverId: string;
  /** What of it, or the code of its problem. */
  readonly reason: string;
}

export interface Service {
  readonly id: string;
  readonly kind: ServiceKind;
  readonly name: string;
  readonly version: string;
  readonly memoryMb: number;
  readonly storage: string | null;
  readonly status: 'pending' | 'starting' | 'running' | 'failed' | 'stopped' | 'removed';
  /** Why it does not run. */
  readonly problem: Fault | null;
}

export interface ServiceCredentials {
  readonly id: string;
  readonly kind: ServiceKind;
  /** Its host name for the application, once in an environment; the kind if not said. Its URL is in the variable `<NAME>_URL`. */
  readonly name: string;
  readonly url: string;
}

/** Experimental, as they have not been proven against the real images yet: `mysql`, `mongodb`. */
export type ServiceKind = 'postgres' | 'mysql' | 'mariadb' | 'mongodb' | 'redis';

export interface ServiceList {
  readonly items: readonly ListedService[];
}

export interface Session {
  readonly id: string;
  /** Whether this request was made with it. */
  readonly current: boolean;
  /** In words, by its user agent. */
  readonly device: string;
  readonly userAgent: string | null;
  readonly ip: string | null;
  readonly createdAt: string;
  readonly lastUsedAt: string;
  readonly expiresAt: string;
}

export interface SessionList {
  readonly items: readonly Session[];
  readonly nextCursor: string | null;
}

export interface SetVariables {
  readonly variables: readonly Variable[];
  /** What it takes until the change is in effect: a deployment that builds, one that does not, or nothing, because nothing runs that it would change. */
  readonly needs: 'rebuild' | 'restart' | 'nothing';
}

export interface SignIn {
  /** A JWT, for the header `Authorization: Bearer`. */
  readonly accessToken: string;
  readonly tokenType: 'Bearer';
  /** Seconds until the access token expires. */
  readonly expiresIn: number;
  /** Only where it was asked for in the body. */
  readonly refreshToken?: string;
  readonly user: User;
}

export interface SlackConfig {
  /** Of an incoming webhook. */
  readonly webhookUrl: string;
}

/** A line of a step. */
export interface StepLogEvent {
  readonly kind: 'log';
  readonly at: string;
  /** The step that it is at. */
  readonly step: string;
  readonly line: string;
}

/** How far a step is. */
export interface StepProgressEvent {
  readonly kind: 'progress';
  readonly at: string;
  /** The step that it is at. */
  readonly step: string;
  readonly fraction: number;
  readonly text: string | null;
}

export interface StreamTicket {
  /** For `?ticket=` of a stream; works once. */
  readonly ticket: string;
  readonly expiresAt: string;
}

export interface TeamsConfig {
  /** Of a workflow that posts to a channel when a webhook request is received. */
  readonly webhookUrl: string;
}

export interface TelegramConfig {
  /** As BotFather gives it. */
  readonly botToken: string;
  /** A number, or the name of a channel with its `@`. */
  readonly chatId: string;
  /** Of a Bot API server of one’s own. */
  readonly apiUrl?: string | undefined;
}

export interface TestMail {
  readonly delivered: boolean;
  readonly to: string;
  /** What the mail server said. */
  readonly detail: string;
}

export interface TotpCodeRequest {
  /** Six digits, from the authenticator app. */
  readonly code: string;
}

export interface TotpFactor {
  readonly since: string;
}

export interface TotpProof {
  readonly method: 'totp';
  /** Six digits, from the authenticator app. */
  readonly code: string;
}

export interface TotpSecret {
  /** In base 32, to be typed in. */
  readonly secret: string;
  /** For a QR code that the app reads. */
  readonly url: string;
}

export interface TotpSignIn {
  /** As it was given. */
  readonly challenge: string;
  /** Where the refresh token goes: an HttpOnly cookie (default), or the body for clients without cookies. */
  readonly refreshTokenIn?: 'cookie' | 'body' | undefined;
  readonly method: 'totp';
  /** Six digits, from the authenticator app. */
  readonly code: string;
}

export interface TotpTurnedOn {
  /** Only with the first factor of the account. Ten, shown this once: each works once in place of a second factor. */
  readonly recoveryCodes?: readonly string[];
}

export interface UndoHardening {
  /** The hardening to undo. */
  readonly operationId: string;
}

export interface UrlRepository {
  /** Of a public repository over https, or of any over ssh: then add the `deployKey` of the answer to it. */
  readonly url: string;
}

export interface User {
  readonly id: string;
  readonly email: string;
  readonly name: string | null;
  readonly emailVerifiedAt: string;
  readonly createdAt: string;
  readonly workspaces: readonly WorkspaceMembership[];
}

export interface UserCodeRequest {
  /** What the program shows; case, blanks and hyphens do not matter. */
  readonly userCode: string;
}

export interface Variable {
  readonly key: string;
  readonly value: string | null;
  readonly secret: boolean;
  readonly target: 'build' | 'runtime' | 'both';
  readonly updatedAt: string;
}

export interface VariableList {
  readonly items: readonly Variable[];
  readonly nextCursor: string | null;
}

export interface VerifyOtpRequest {
  /** An e-mail address; case does not matter. */
  readonly email: string;
  /** Six digits, from the mail. */
  readonly code: string;
  /** Where the refresh token goes: an HttpOnly cookie (default), or the body for clients without cookies. */
  readonly refreshTokenIn?: 'cookie' | 'body' | undefined;
}

export interface Volume {
  readonly name: string;
  /** In the container, from the root. Not a folder of the kernel (/proc, /sys, /dev) or one that the system in the image needs, and not the folder of the app itself. */
  readonly path: string;
}

export interface WantedService {
  readonly kind: ServiceKind;
  /**
   * One of:
   * - `postgres`: 14, 15, 16, 17, 18; 17 if not said
   * - `mysql`: 8.0, 8.4; 8.4 if not said
   * - `mariadb`: 10.6, 10.11, 11.4, 11.8; 11.8 if not said
   * - `mongodb`: 6.0, 7.0, 8.0; 8.0 if not said
   * - `redis`: 7.2, 7.4, 8.0, 8; 8 if not said
   */
  readonly version?: string | undefined;
  /** Its host name for the application, once in an environment; the kind if not said. Its URL is in the variable `<NAME>_URL`. */
  readonly name?: string | undefined;
  /** What it is meant to need. Kept and shown; the server’s disk is the limit. */
  readonly storage?: string | undefined;
  /** The most that it may use. If not said: `postgres` 512, `mysql` 1024, `mariadb` 512, `mongodb` 1024, `redis` 256. */
  readonly memoryMb?: number | undefined;
}

export interface WantedServices {
  /** The wanted whole. */
  readonly services: readonly WantedService[];
  /** The services that are to go, by name. One that is there and neither in `services` nor here is not removed: the call is refused with `removal_unconfirmed`. Names that are not there do no harm, so that the same call can be sent again. */
  readonly remove?: readonly string[] | undefined;
  /** Deletes the data of every service that is not wanted, also of those that were removed before. Without it, data is kept. */
  readonly deleteData?: boolean | undefined;
}

export interface WebhookConfig {
  readonly url: string;
  /** What deliveries are signed with. Where it is left out one is made, and shown once. */
  readonly secret?: string | undefined;
}

export interface WebhookDelivery {
  readonly id: string;
  readonly deliveryId: string | null;
  readonly via: 'webhook' | 'poll';
  readonly event: string;
  readonly branch: string | null;
  readonly commitSha: string | null;
  readonly outcome: 'deployed' | 'ignored' | 'rejected';
  readonly reason: PushReason;
  readonly message: string;
  readonly environments: readonly {
    readonly environmentId: string;
    readonly name: string;
    readonly outcome: 'deployed' | 'ignored';
    readonly reason: PushReason;
  }[];
  readonly receivedAt: string;
}

export interface WebhookDeliveryList {
  readonly items: readonly WebhookDelivery[];
  readonly nextCursor: string | null;
}

/** With what you are in it. */
export interface Workspace {
  readonly id: string;
  readonly name: string;
  /** A `viewer` looks; a `member` deploys and changes, too; an `admin` also manages servers, accounts and members; an `owner` also owners, and the end of the workspace. */
  readonly role: 'owner' | 'admin' | 'member' | 'viewer';
  readonly projects: readonly {
    readonly projectId: string;
    /** What they are in it. */
    readonly role: 'admin' | 'member' | 'viewer';
  }[] | null;
  /** Whether there is nothing here for members without a second factor, and for their API tokens, until they have one. */
  readonly requiresSecondFactor: boolean;
  readonly status: 'active' | 'removing' | 'removed';
  readonly createdAt: string;
}

export interface WorkspaceChange {
  readonly name?: string | undefined;
  /** Whether there is nothing here for members without a second factor, and for their API tokens, until they have one. */
  readonly requiresSecondFactor?: boolean | undefined;
}

export type WorkspaceEvent = ProjectUpdatedEvent | OperationUpdatedEvent | ServerUpdatedEvent | ClusterUpdatedEvent | GitProviderUpdatedEvent | DomainUpdatedEvent | BackupUpdatedEvent | ConnectorUpdatedEvent | ResetEvent;

export interface WorkspaceMembership {
  readonly id: string;
  readonly name: string;
  /** What the account may do in it. */
  readonly role: 'owner' | 'admin' | 'member' | 'viewer';
}

export interface WorkspacePage {
  readonly items: readonly Workspace[];
  readonly nextCursor: string | null;
}

export interface WorkspaceRequest {
  readonly name: string;
}

/**
 * The port between an environment and the thing that runs it. Areas say here what they need, in the words of containers
 * and proxies, and know neither Docker nor HAProxy; which engine answers is decided where a target is opened. Owns those
 * words; refuses to know of rows, users and HTTP. Every method may be called again: it looks before it acts.
 *
 * A release may run in several places: each instance has a name and an address of its own, and fronts, certificates and
 * crons are said once; bringing them to every proxy that serves the environment is the engine's work.
 */
import type { Readable } from 'node:stream';
import type { ContainerState } from '../adapters/docker/docker.ts';
import type { CertificateSpec } from '../adapters/proxy/certificate-bundle.ts';
import type { SeenCertificate } from '../adapters/proxy/certificates.ts';
import type { ProxyRoute, ProxyServer } from '../adapters/proxy/fronts.ts';
import type { SeenFront } from '../adapters/proxy/read-fronts.ts';
import type { Fault } from '../fault.ts';
import type { CertificateId, DeploymentId, EnvironmentId, ServiceId } from '../ids.ts';
import type { FollowUnitOptions } from '../remote/units/follow-unit.ts';
import type { Secret } from '../secret.ts';
import type { DockerHost } from './docker-host.ts';
import type { Probe } from './health-probe.ts';
import type { Placement } from './placement.ts';
import type { ReleaseSpec, ReleaseStart, RunPlan } from './release-spec.ts';
import type { InspectedService, InspectedServices, ServiceSpec } from './service-spec.ts';

/** One environment where it is placed, for one step of work. */
export interface Target {
  readonly placement: Placement;
  /** Of the step: ends whatever is under way. */
  readonly signal: AbortSignal;
  /** The server that holds the environment's volumes: dumps are taken and loaded there. */
  readonly dataHost: DockerHost;

  /** What is there of the application, and, by its id, the image that is likely to be asked for next. */
  inspect(likelyImage: string | null): Promise<InspectedTarget>;
  /** By its id; undefined where it is gone. */
  readImage(id: string): Promise<BuiltImage | undefined>;
  instances(): Promise<Instance[]>;

  /** Named after the deployment; what was sent before for it is replaced. */
  sendBuildContext(id: DeploymentId, context: BuildContext): Promise<void>;
  removeBuildContext(id: DeploymentId): Promise<void>;
  /** Outlives us: who asks again for the same deployment joins it. One that succeeds is cleared away by `cleanUp`. */
  buildImage(id: DeploymentId, build: ImageBuild, output: FollowUnitOptions): Promise<BuiltImage>;
  stopBuild(id: DeploymentId): Promise<void>;

  startWeb(start: ReleaseStart): Promise<RunningInstance[]>;
  /** Workers run beside the web process; a cron process is only made ready. */
  startProcesses(start: ReleaseStart): Promise<RunningInstance[]>;
  /** Throws the diagnosis where one does not become healthy in its time. */
  waitHealthy(check: HealthCheck): Promise<void>;
  /** So that what runs can be started anew on any of its servers: one that has joined, or come back, may lack the image. */
  ensureImages(): Promise<void>;
  /** What ran on a server that does not answer, where others may run it and do not yet. Of any environment of its servers. */
  startLost(): Promise<void>;
  /** Moves one to a server that has come back and has fewer than others. `front` is what serves now; nobody notices. */
  evenOut(front: Front, check: HealthCheck): Promise<void>;
  /** Once, to its end, in an instance of its own. */
  runReleaseCommand(start: ReleaseStart, command: string, output: FollowUnitOptions): Promise<void>;
  stopReleaseCommand(id: DeploymentId): Promise<void>;
  /** Those of them that the proxy still knows are taken out of it before. */
  stopInstances(names: readonly string[], stopSeconds: number, inProxy?: readonly string[]): Promise<void>;
  /** The same ones, at the same addresses. */
  startAgain(names: readonly string[], stopSeconds: number): Promise<void>;
  removeInstances(names: readonly string[], stopSeconds: number): Promise<void>;
  /** What is left of old releases, and of the build of this one. An image that runs, or that another name is for, stays. */
  cleanUp(left: Leftovers): Promise<void>;
  /** Exactly these: setting them again changes nothing. */
  setCrons(run: RunPlan, deploymentId: DeploymentId): Promise<void>;
  removeCrons(): Promise<void>;
  /** All of the environment; its volumes only where that is said. */
  takeDown(options: { readonly deleteData: boolean }): Promise<void>;

  /** Whether it had to be started or changed. */
  ensureProxy(): Promise<boolean>;
  /** Adds them without traffic, and asks each one through the proxy. `front` is what serves now. */
  prove(front: Front, endpoints: readonly Endpoint[], release: ReleaseSpec): Promise<void>;
  /**
   * All new requests go to the endpoints of `front`; others get none any more. The last requests of those who leave are
   * waited for, as in `drain`.
   */
  switchTo(front: Front, leaving?: Leaving): Promise<ReadonlyMap<string, number>>;
  /** Requests wait until a switch. Who has one goes on with it. */
  holdRequests(front: Front): Promise<void>;
  /** How many requests each still has when the time is up; none is the rule. */
  drain(names: readonly string[], drainSeconds: number): Promise<ReadonlyMap<string, number>>;
  removeFromProxy(names: readonly string[]): Promise<void>;
  /** 503 at once: it is stopped. */
  refuseRequests(front: Front): Promise<void>;
  /** As it is said, whatever was there. */
  restoreFront(front: Front): Promise<void>;
  /** Those of them that get requests are asked there from now on; who gets requests stays. For any environment of its servers. */
  moveServers(id: EnvironmentId, endpoints: readonly Endpoint[]): Promise<void>;
  removeFront(): Promise<void>;

  installCertificate(certificate: CertificateSpec): Promise<void>;
  readCertificates(): Promise<readonly SeenCertificate[]>;
  removeCertificate(id: CertificateId): Promise<void>;
  /** With it the proxy answers an authority that asks for names of this environment. */
  setChallengeThumbprint(thumbprint: string): Promise<void>;

  inspectServices(services: readonly ServiceSpec[]): Promise<InspectedServices>;
  pullImage(image: string, name: string, log: (line: string) => void): Promise<void>;
  /** `unwanted` lose their container and keep their data; the others are made anew, or started. */
  applyServices(services: readonly InspectedService[], unwanted: readonly string[]): Promise<void>;
  waitForServices(services: readonly ServiceSpec[], withinMs: number): Promise<WaitedServices>;
  stopServices(services: readonly Pick<ServiceSpec, 'id' | 'stopSeconds'>[]): Promise<void>;
  removeServices(options: { readonly deleteData: boolean }): Promise<void>;
  deleteServiceData(ids: readonly ServiceId[]): Promise<void>;

  /** Of all environments that share its servers, in few round trips: the instances with these names, and every front. */
  survey(names: readonly string[]): Promise<Survey>;
  lastLines(name: string, most: number): Promise<string[]>;
  /** Before its last start; of one that runs again its state does not tell any more. */
  wasOutOfMemory(instance: InstanceState): Promise<boolean>;
}

/**
 * For those who only look, beside whatever is under way: all that they may change is where servers are asked, and where that runs
 * which a lost server ran.
 */
export type TargetView = Pick<
  Target,
  | ('placement' | 'inspectServices' | 'survey' | 'lastLines' | 'wasOutOfMemory' | 'readCertificates')
  | ('moveServers' | 'startLost')
>;

export interface Instance {
  readonly name: string;
  readonly process: string;
  readonly deploymentId: DeploymentId;
  readonly address: string | null;
  readonly isRunning: boolean;
}

export interface RunningInstance {
  readonly name: string;
  readonly process: string;
  /** Empty where it may change by itself: the engine looks it up by the name whenever it is needed. */
  readonly address: string;
  /** Where it answers there, if not at the app's own port. */
  readonly port?: number;
  /** What Docker calls it, if not by its name. */
  readonly container?: string;
}

export interface InstanceState extends ContainerState {
  /** Where it answers at its address, if not at the app's own port. */
  readonly port?: number;
}

export interface InspectedTarget {
  readonly instances: readonly Instance[];
  readonly likelyImage: BuiltImage | undefined;
  /** All that are there of the environment, by the names that releases have for them; an image can have several. */
  readonly images: readonly { readonly name: string; readonly id: string }[];
}

export interface Leftovers {
  readonly deploymentId: DeploymentId;
  readonly instances: readonly string[];
  /** By the names that releases have for them; with the id, where that is of no other name. */
  readonly images: readonly { readonly name: string; readonly id: string | null }[];
}

export interface BuiltImage {
  readonly id: string;
  readonly exposedPorts: readonly number[];
  /** Empty where it runs as root. */
  readonly user: string;
}

export interface BuildContext {
  readonly tar: Readable;
  /** Beside it: `Dockerfile`, `Dockerfile.dockerignore`, `secrets/<KEY>`; closed to others. */
  readonly files: readonly { readonly path: string; readonly content: string }[];
}

export interface ImageBuild {
  /** Of the name that a release has for it. */
  readonly tag: string;
  /** Nobody else can guess it. What builds leave for later ones, they leave for those with the same word. */
  readonly cacheScope: string;
  readonly buildArgs: Readonly<Record<string, string>>;
  readonly secretKeys: readonly string[];
  /** One of the repository instead of the one that was sent. */
  readonly dockerfilePath?: string;
  readonly target?: string;
  readonly cpus: number;
  readonly memoryMb: number;
}

export interface HealthCheck {
  readonly instances: readonly RunningInstance[];
  readonly run: RunPlan;
  readonly secrets: readonly Secret[];
  /** What it was given; without, nothing is said of what is missing. */
  readonly variables?: ReadonlyMap<string, Secret>;
  /** Every probe, with the instance that it was sent to. */
  readonly onProbe: (instance: string, probe: Probe) => void;
  /** What is seen to be wrong while it is still waited for, as a sentence; each once. */
  readonly onWarning?: (sentence: string) => void;
}

/** Where the proxy finds an instance. */
export type Endpoint = ProxyServer;
export type Route = ProxyRoute;
export type { CertificateSpec, SeenCertificate, SeenFront };

/** What visitors of an environment meet: the names that lead to it, and who answers. */
export interface Front {
  readonly routes: readonly Route[];
  readonly endpoints: readonly Endpoint[];
  /** How long a request waits where nobody can take it for now. */
  readonly holdSeconds: number;
}

export interface Leaving {
  readonly names: readonly string[];
  readonly drainSeconds: number;
}

export function endpointsOf(instances: readonly RunningInstance[], port: number): Endpoint[] {
  return instances.map(({ name, address }) => ({ name, address, port }));
}

export interface WaitedServices {
  readonly ready: readonly ServiceSpec[];
  readonly failed: readonly { readonly service: ServiceSpec; readonly fault: Fault }[];
}

export interface Survey {
  readonly states: ReadonlyMap<string, InstanceState>;
  /** Every one of any environment. */
  readonly instances: readonly (Instance & { readonly environmentId: string })[];
  readonly isProxyRunning: boolean;
  readonly fronts: readonly SeenFront[];
  /** Those with these names that would rather be on another server. */
  readonly uneven: readonly string[];
}

export function addressesOf(instances: readonly Pick<Instance, 'address'>[]): Set<string> {
  return new Set(instances.flatMap(({ address }) => address ?? []));
}

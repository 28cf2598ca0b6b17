/** What an engine runs beside an application: a database with a volume of its own, as its kind describes it. */
import type { ServiceId } from '../ids.ts';
import type { Secret } from '../secret.ts';

export interface ServiceSpec {
  readonly id: ServiceId;
  /** Also its host name on the environment's network. */
  readonly name: string;
  /** For people: `PostgreSQL`. */
  readonly title: string;
  readonly image: string;
  /** Its address on the network; it keeps it. */
  readonly slot: number;
  /** What was asked for; null: the standard one of its kind, `memoryMb`. */
  readonly wantedMemoryMb: number | null;
  readonly memoryMb: number;
  readonly environment: ReadonlyMap<string, Secret>;
  readonly command: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly volumePath: string;
  readonly stopSeconds: number;
  readonly capabilities: readonly string[];
  readonly health: ServiceHealthCheck;
  /** What must not be seen of it in a log. */
  readonly secrets: readonly Secret[];
  /** It ran when it was last seen: it is asked at once whether it is healthy. */
  readonly wasRunning: boolean;
}

/** How it is asked over TCP whether it takes connections. */
export interface ServiceHealthCheck {
  readonly port: number;
  readonly send: Buffer;
  /** A Perl pattern; what it matches is an answer that only a ready one gives. */
  readonly expect: string;
  /** Enough of the answer to know; more is not waited for. */
  readonly maxBytes: number;
}

export interface InspectedService {
  readonly service: ServiceSpec;
  /** Null where it has no container. */
  readonly status: 'created' | 'running' | 'restarting' | 'paused' | 'exited' | 'dead' | 'removing' | null;
  /** Whether its container is of this spec, running or not. */
  readonly isUpToDate: boolean;
  readonly isHealthy: boolean;
}

export interface InspectedServices {
  readonly services: readonly InspectedService[];
  /** Containers of services that are not wanted any more, or never were. */
  readonly unwanted: readonly string[];
  readonly missingImages: ReadonlySet<string>;
}

export function isServiceUp({
  status,
  isUpToDate,
  isHealthy,
}: Pick<InspectedService, 'status' | 'isUpToDate' | 'isHealthy'>): boolean {
  return isUpToDate && isHealthy && status === 'running';
}

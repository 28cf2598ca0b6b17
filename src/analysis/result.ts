/** What an analysis says, as it goes over the wire (`CONTRACT`: projects and analysis). Plain values; no functions. */
import type { FieldEvidence } from './evidence.ts';

export interface AnalysisResult {
  readonly apps: readonly App[];
  readonly services: readonly NeededService[];
  readonly variables: readonly Variable[];
  readonly composeFile: string | null;
  readonly monorepo: Monorepo | null;
  /** Share of each language by bytes of source, largest first; they add up to 1. */
  readonly languages: readonly { readonly name: string; readonly share: number }[];
  readonly warnings: readonly Warning[];
  /** Which file says what; `field` is a path into this result. */
  readonly evidence: readonly FieldEvidence[];
}

export interface App {
  /** Its folder from the root of the repository; `.` for the root itself. */
  readonly path: string;
  readonly name: string;
  readonly language: string;
  readonly framework: string | null;
  readonly packageManager: PackageManager | null;
  /** Of languages and tools that are needed to build and run: `{node: "24", pnpm: "10.4.1"}`. */
  readonly versions: Readonly<Record<string, string>>;
  readonly installCommand: string | null;
  readonly buildCommand: string | null;
  readonly startCommand: string | null;
  /** Run once before the new release takes over: migrations. */
  readonly releaseCommand: string | null;
  readonly staticOutput: StaticOutput | null;
  readonly port: number | null;
  readonly healthPath: string | null;
  /** Beside the web process. */
  readonly processes: readonly Process[];
  readonly dockerfile: { readonly path: string } | null;
  /** Folders that must lie on a volume: SQLite files, uploads. */
  readonly volumes: readonly string[];
  readonly confidence: number;
}

export interface PackageManager {
  readonly name: string;
  readonly version: string | null;
  /** Where its lock file is, which may be a folder above the app. */
  readonly lockFile: string | null;
}

export interface StaticOutput {
  /** From the folder of the app. */
  readonly directory: string;
  /** Every path that is no file is answered with index.html. */
  readonly isSinglePage: boolean;
}

export interface Process {
  readonly name: string;
  readonly kind: 'worker' | 'cron';
  readonly command: string;
  /** Of a cron process. */
  readonly schedule: string | null;
}

export const serviceKinds = ['postgres', 'mysql', 'mariadb', 'mongodb', 'redis'] as const;
export type ServiceKind = (typeof serviceKinds)[number];

export interface NeededService {
  readonly kind: ServiceKind;
  readonly version: string | null;
  readonly reason: string;
  readonly certainty: 'needed' | 'probable';
  /** Which apps need it, by path. */
  readonly apps: readonly string[];
}

export interface Variable {
  readonly key: string;
  readonly required: boolean;
  readonly secret: boolean;
  /** Read while building, so that a change needs a new build. */
  readonly build: boolean;
  readonly default: string | null;
  /** Where a value comes from that the user need not give: a service's address, or a random one that we make. */
  readonly given: 'service' | 'generate' | null;
  readonly reason: string;
  readonly apps: readonly string[];
}

export interface Monorepo {
  /** `pnpm`, `npm`, `yarn`, `bun`, `cargo`, `go`, `uv`, `gradle`, `maven`, … */
  readonly kind: string;
  /** `turborepo`, `nx`, `lerna`, … */
  readonly tool: string | null;
  readonly members: readonly string[];
}

export interface Warning {
  readonly code: string;
  readonly message: string;
  readonly file: string | null;
}

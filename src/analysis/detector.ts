/**
 * What those who look at a repository say. A detector looks at one directory and says what it could be, with a score
 * and its evidence; it never decides. `resolve.ts` is the one that chooses.
 */

import type { Evidenced, Source } from './evidence.ts';
import type { Project } from './project.ts';
import type { Repository } from './repository.ts';
import type { PackageManager, Process, ServiceKind, StaticOutput, Variable, Warning } from './result.ts';

/** What is known of an app so far. What is absent is not known; `null` is known not to be. */
export interface AppDraft {
  readonly name?: Evidenced<string>;
  readonly language?: Evidenced<string>;
  readonly framework?: Evidenced<string | null>;
  readonly packageManager?: Evidenced<PackageManager>;
  readonly versions?: Readonly<Record<string, Evidenced<string>>>;
  readonly installCommand?: Evidenced<string | null>;
  readonly buildCommand?: Evidenced<string | null>;
  readonly startCommand?: Evidenced<string | null>;
  readonly releaseCommand?: Evidenced<string | null>;
  readonly staticOutput?: Evidenced<StaticOutput | null>;
  /** Of a file that speaks of the fallback alone (`_redirects`); it corrects whatever static output is chosen. */
  readonly singlePage?: Evidenced<boolean>;
  readonly port?: Evidenced<number | null>;
  readonly healthPath?: Evidenced<string | null>;
  readonly processes?: readonly Evidenced<Process>[];
  readonly dockerfile?: Evidenced<string>;
  readonly volumes?: readonly Evidenced<string>[];
  /** What whoever deploys it should know. */
  readonly warnings?: readonly Warning[];
}

export interface Candidate {
  /** The detector's name: `node`, `python`, … */
  readonly ecosystem: string;
  /** `''` for the root. */
  readonly directory: string;
  /**
   * `app`: it runs or is served. `toolchain`: it helps another app here to be built (Vite in a Laravel app). `library`:
   * it is used by others in the repository and runs nowhere.
   */
  readonly role: 'app' | 'toolchain' | 'library';
  /** From 0 to 1. A framework with a start command is about 0.9, a lone source file about 0.2. */
  readonly score: number;
  readonly draft: AppDraft;
}

export interface Detector {
  readonly name: string;
  /** Synchronous and quick: everything it may read was read before. */
  detect(project: Project): readonly Candidate[];
}

/** A file that declares several projects to be one workspace. */
export interface WorkspaceFinding {
  readonly kind: string;
  readonly tool: string | null;
  /** Directory of the file. */
  readonly root: string;
  /** Directories of the members, as far as they exist. */
  readonly members: readonly string[];
  readonly source: Source;
}

export interface WorkspaceFinder {
  readonly name: string;
  find(repository: Repository): readonly WorkspaceFinding[];
}

/** What a platform file (render.yaml, fly.toml, Procfile, compose, …) says: the strongest evidence there is. */
export interface Declaration {
  /** Which app it speaks of, by directory; where there is no such app, it makes one. */
  readonly directory: string;
  /** Between two files that say different things, the one with the higher precedence counts; from 1 on also over what was detected. */
  readonly precedence: number;
  readonly draft: AppDraft;
}

export interface ServiceFinding {
  readonly kind: ServiceKind;
  readonly version: string | null;
  /** `declared` by a platform or compose file, a `driver` among the production dependencies, or a `variable` read. */
  readonly by: 'declared' | 'driver' | 'variable' | 'configuration';
  readonly directory: string;
  readonly source: Source;
}

export interface VariableFinding {
  readonly key: string;
  readonly directory: string;
  readonly required?: boolean;
  readonly secret?: boolean;
  readonly build?: boolean;
  readonly default?: string;
  readonly given?: Variable['given'];
  readonly source: Source;
  /** What the value beside it tells of the database; the value itself is not kept. */
  readonly behind?: { readonly kind?: ServiceKind; readonly sqliteFolder?: string };
  /** Read by configuration that comes with a framework: it counts where something else names it too. */
  readonly onlyIfNamed?: true;
}

export interface DeclarationReader {
  readonly name: string;
  read(repository: Repository): {
    readonly declarations?: readonly Declaration[];
    readonly services?: readonly ServiceFinding[];
    readonly variables?: readonly VariableFinding[];
    readonly warnings?: readonly Warning[];
  };
}

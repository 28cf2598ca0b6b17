/** Which folders are looked at, judged by their names and by the manifests in them; no file is read for it. */
import type { TreeEntry } from './tree.ts';

/** Made by tools or taken from others. Nothing in them was written for this repository; they are not even listed. */
const foreign = new Set(
  `node_modules bower_components jspm_packages .git .hg .svn .jj __pycache__ .venv venv .tox .nox .mypy_cache
  .pytest_cache .ruff_cache .eggs site-packages .next .nuxt .svelte-kit .astro .turbo .nx .cache .parcel-cache .angular
  .gradle .idea .vs .terraform .serverless .vercel .netlify .output .pnp .pnpm-store .bundle .stack-work
  dist-newstyle .dart_tool .build .zig-cache zig-cache Pods DerivedData vendor third_party third-party 3rdparty
  elm-stuff .shards .cpcache .clj-kondo .elixir_ls .coverage coverage .nyc_output`.split(/\s+/),
);

/** For those who work on the repository, not for those who run it. Their files are listed and not read. */
const workshop = new Set(
  '.yarn .github .gitlab .circleci .devcontainer .vscode .husky .changeset .buildkite .woodpecker .teamcity .zed'.split(
    ' ',
  ),
);

/** Tests: an app only where there is no other. */
const tests = new Set(
  `test tests __tests__ testing test-app e2e spec specs cypress playwright integration-tests unit-tests testdata
  test-data fixtures __fixtures__ fixture mocks __mocks__ mock stubs __snapshots__`.split(/\s+/),
);

/** Examples and blueprints; but the app itself may be called so, and then its code lies in a folder of that name. */
const examples = new Set(
  `example examples sample samples demo demos playground playgrounds sandbox benchmark benchmarks bench template
  templates snippets stories`.split(/\s+/),
);

/** What makes a folder a project of its own. */
const manifests = new Set(
  `package.json deno.json deno.jsonc requirements.txt pyproject.toml setup.py Pipfile manage.py go.mod Cargo.toml
  pom.xml build.gradle build.gradle.kts build.sbt composer.json Gemfile mix.exs project.clj deps.edn stack.yaml
  shard.yml pubspec.yaml Package.swift gleam.toml Dockerfile`.split(/\s+/),
);

/** A package of Python is code of the project that it lies in, whatever its name. */
const packageMarks = new Set(['__init__.py', 'settings.py', 'wsgi.py', 'asgi.py']);

/** Below these the names are those of packages, as `com.example.demo`. */
const packageRoots = new Set(['java', 'kotlin', 'scala', 'groovy']);

/** Made by a build and checked in. What is in them tells nothing about how to build it. */
const built = new Set(['dist', 'build', 'out', 'target', 'obj', '_build', '_site', 'release']);

/** Sent to browsers as it is. */
const client = new Set(['public', 'static', 'assets', 'wwwroot', 'www', 'htdocs', 'public_html']);

export type FolderKind = 'own' | 'secondary' | 'workshop' | 'foreign';

export interface Folder {
  readonly kind: FolderKind;
  readonly isBuilt: boolean;
  readonly isClient: boolean;
  readonly depth: number;
  /** Below `src/main/java` and the like. */
  readonly isPackage: boolean;
}

const top: Folder = { kind: 'own', isBuilt: false, isClient: false, depth: 0, isPackage: false };

/** Of all folders of a repository; each is judged once. Inside of `root` neither its name nor those above it count. */
export class Folders {
  readonly root: string;
  readonly #entries: readonly TreeEntry[];
  readonly #known = new Map<string, Folder>([['', top]]);
  #marked: Marked | undefined;

  constructor(entries: readonly TreeEntry[], root: string) {
    this.root = root;
    this.#entries = entries;
  }

  of(path: string): Folder {
    const known = this.#known.get(path);
    if (known) return known;
    const end = path.lastIndexOf('/');
    const parent = end === -1 ? '' : path.slice(0, end);
    const made = this.#judge(path, path.slice(end + 1), parent, this.of(parent));
    this.#known.set(path, made);
    return made;
  }

  /** As it is said from inside the root; what lies outside keeps its whole path. */
  within(path: string): string {
    if (path === this.root) return '';
    return this.root !== '' && path.startsWith(`${this.root}/`) ? path.slice(this.root.length + 1) : path;
  }

  #judge(path: string, name: string, parent: string, above: Folder): Folder {
    // Depth is counted from the root, so that as much is read of a project in a folder as of one at the top.
    if (this.root === path) return top;
    const depth = above.depth + 1;
    const isPackage = above.isPackage || (packageRoots.has(name) && /(?:^|\/)src\/[^/]+$/.test(parent));
    return {
      kind: this.#kindOf(path, name, parent, above),
      isBuilt: above.isBuilt || built.has(name),
      isClient: above.isClient || client.has(name),
      depth,
      isPackage,
    };
  }

  #kindOf(path: string, name: string, parent: string, above: Folder): FolderKind {
    if (above.kind === 'foreign' || foreign.has(name)) return 'foreign';
    if (above.kind === 'workshop' || workshop.has(name)) return 'workshop';
    if (above.kind === 'secondary' || above.isPackage) return above.kind;
    if (tests.has(name)) return 'secondary';
    return examples.has(name) && this.#isExample(path, parent) ? 'secondary' : 'own';
  }

  /** A project of its own or a heap of them, or something beside a project that is no package of it. */
  #isExample(path: string, parent: string): boolean {
    this.#marked ??= marksIn(this.#entries);
    const { projects, holders, packages } = this.#marked;
    if (projects.has(path) || holders.has(path)) return true;
    return (parent === this.root || parent === '' || projects.has(parent)) && !packages.has(path);
  }
}

interface Marked {
  readonly projects: ReadonlySet<string>;
  /** Folders right above a project. */
  readonly holders: ReadonlySet<string>;
  readonly packages: ReadonlySet<string>;
}

function marksIn(entries: readonly TreeEntry[]): Marked {
  const [projects, holders, packages] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const { path, type } of entries) {
    const end = path.lastIndexOf('/');
    if (end === -1 || type !== 'file') continue;
    const name = path.slice(end + 1);
    if (packageMarks.has(name)) packages.add(path.slice(0, end));
    if (!manifests.has(name)) continue;
    const folder = path.slice(0, end);
    projects.add(folder);
    holders.add(folder.slice(0, Math.max(0, folder.lastIndexOf('/'))));
  }
  return { projects, holders, packages };
}

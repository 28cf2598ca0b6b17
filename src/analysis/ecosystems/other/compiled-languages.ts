/** Languages that are compiled, with their one or two build tools. C and C++: `native-languages.ts`. */
import { certain, type Evidenced, evidenced } from '../../evidence.ts';
import type { Project } from '../../project.ts';
import { objectAt, stringAt } from '../../readers/shape.ts';
import { isParsed, nameOf } from '../../repository.ts';
import { toolVersion } from '../tool-versions.ts';
import { versionLine } from '../version-lines.ts';
import { type Frameworks, frameworkNamed, type Language } from './language.ts';

export const erlang: Language = {
  language: 'erlang',
  image: 'erlang:{version}',
  imageVersion: '27',
  markers: ['rebar.config'],
  endings: ['.erl'],
  frameworks: { nova: 8080, cowboy: 8080, elli: 8080, yaws: 8080 },
  manager: 'rebar3',
  lockFile: 'rebar.lock',
  tools: ['erlang'],
  install: 'rebar3 get-deps',
  read(project) {
    const name = project.capture('rebar.config', /\{release,\s*\{\s*'?(\w+)'?/);
    if (name === undefined) return { build: 'rebar3 compile' };
    return { name, build: 'rebar3 as prod release', start: `_build/prod/rel/${name}/bin/${name} foreground` };
  },
};

const clojure = {
  language: 'clojure',
  imageVersion: '21',
  versionKey: 'java',
  endings: ['.clj', '.cljc'],
  frameworks: {
    'luminus-transit': ['luminus', 3000],
    'luminus-undertow': ['luminus', 3000],
    'luminus-jetty': ['luminus', 3000],
    'luminus-http-kit': ['luminus', 3000],
    'io.github.kit-clj/kit-core': ['kit', 3000],
    'io.pedestal/pedestal.service': ['pedestal', 8080],
    'io.pedestal/pedestal.http-kit': ['pedestal', 8080],
    'io.pedestal/pedestal.jetty': ['pedestal', 8080],
    compojure: 3000,
    'metosin/reitit': ['reitit', 3000],
    'http-kit': 8080,
    ring: 3000,
    'ring/ring-jetty-adapter': ['ring', 3000],
    'ring/ring-core': ['ring', 3000],
  },
  tools: ['java'],
} satisfies Partial<Language>;

export const leiningen: Language = {
  ...clojure,
  variant: 'lein',
  image: 'clojure:temurin-{version}-lein',
  markers: ['project.clj'],
  manager: 'lein',
  install: 'lein deps',
  build: 'lein uberjar',
  read(project) {
    const [, whole, version = '*'] =
      project.find('project.clj', /^\(defproject\s+(\S+)\s+"([^"]+)"/)?.match ?? [];
    const name = whole?.split('/').at(-1) ?? (nameOf(project.path) || 'app');
    const jar = project.capture('project.clj', /:uberjar-name\s+"([^"\s]+)"/);
    const target = project.capture('project.clj', /:target-path\s+"([^"%\s]+)/)?.replace(/\/$/, '');
    const hasProfile = project.find('project.clj', /:target-path\s+"target\/%s/) !== undefined;
    const folder = hasProfile ? 'target/uberjar' : (target ?? 'target');
    return { name, start: `java -jar ${folder}/${jar ?? `${name}-${version}-standalone.jar`}` };
  },
};

export const clojureTools: Language = {
  ...clojure,
  image: 'clojure:temurin-{version}-tools-deps',
  markers: ['deps.edn'],
  manager: 'clojure',
  install: 'clojure -P',
  read(project) {
    const { repository } = project;
    const task = project.capture('build.clj', /^\(defn\s+(uber|uberjar|all)\b/);
    if (task !== undefined) {
      const jar = project.capture('build.clj', /"(target\/[\w.%-]+\.jar)"/);
      const built = jar === undefined || jar.includes('%') ? 'target/*.jar' : jar;
      return { build: `clojure -T:build ${task}`, start: `java -jar ${built}` };
    }
    const alias = project.capture(
      'deps.edn',
      /^\s{0,80}\{?:?(?:aliases\s{0,10}\{)?\s{0,20}:(run|start|serve|server|main|prod)\b/,
    );
    if (alias !== undefined) return { start: `clojure -M:${alias}` };
    const main = repository.find(project.sources(clojure.endings), /^\(defn\s+-main\b/)?.file;
    const namespace = main && repository.capture(main, /^\(ns\s+([\w.-]+)/);
    return { start: namespace && `clojure -M -m ${namespace}` };
  },
};

export const haskell: Language = {
  language: 'haskell',
  image: 'haskell:{version}',
  imageVersion: '9',
  markers: ['stack.yaml', '*.cabal', 'package.yaml'],
  endings: ['.hs'],
  frameworks: {
    'yesod-core': ['yesod', 3000],
    yesod: 3000,
    ihp: 8000,
    'servant-server': ['servant', 8080],
    scotty: 3000,
    Spock: ['spock', 8080],
    'snap-server': ['snap', 8000],
    'happstack-server': ['happstack', 8000],
    twain: 8080,
    warp: 3000,
  },
  manifests: (project) => [...project.withEnding('.cabal'), project.at('package.yaml')],
  tools: ['haskell'],
  read(project, file) {
    const program = haskellProgram(project);
    if (project.files.has('stack.yaml'))
      return {
        manager: ['stack', file],
        lockFile: project.first('stack.yaml.lock'),
        install: 'stack build --only-dependencies',
        build: 'stack build',
        start: program && `stack exec ${program}`,
      };
    return {
      manager: ['cabal', file],
      lockFile: project.first('cabal.project.freeze'),
      install: 'cabal update && cabal build --only-dependencies',
      build: 'cabal build',
      start: program && `cabal run ${program}`,
    };
  },
};

function haskellProgram(project: Project): string | undefined {
  const manifest = project.yaml('package.yaml');
  const [listed] = Object.keys(objectAt(manifest, 'executables'));
  if (listed !== undefined && /^[\w-]+$/.test(listed)) return listed;
  const name = isParsed(manifest?.executable) ? stringAt(manifest, 'name') : undefined;
  return name ?? project.repository.capture(project.withEnding('.cabal'), /^executable\s+([\w-]+)/i);
}

const dart = {
  language: 'dart',
  markers: ['pubspec.yaml'],
  endings: ['.dart'],
  manager: 'pub',
  lockFile: 'pubspec.lock',
} satisfies Partial<Language>;
const dartFrameworks: Frameworks = {
  dart_frog: ['dart-frog', 8080],
  serverpod: 8080,
  shelf: 8080,
  alfred: 3000,
  angel3_framework: ['angel', 3000],
  conduit: 8888,
  relic: 8080,
  jaspr: 8080,
};

function readPubspec(project: Project, file: string) {
  const manifest = project.yaml('pubspec.yaml');
  const wanted = asked(stringAt(manifest, 'environment', 'sdk'), file, 'sdk');
  return {
    name: stringAt(manifest, 'name'),
    dependencies: objectAt(manifest, 'dependencies'),
    versions: {
      dart: versionLine('dart', toolVersion(project, 'dart') ?? wanted),
      flutter: toolVersion(project, 'flutter'),
    },
  };
}

export const flutter: Language = {
  ...dart,
  variant: 'flutter',
  image: 'ghcr.io/cirruslabs/flutter:stable',
  install: 'flutter pub get',
  build: 'flutter build web --release',
  read(project, file) {
    const { name, dependencies, versions } = readPubspec(project, file);
    if (!isParsed(dependencies.flutter)) return undefined;
    const output = project.has('web/index.html') ? { directory: 'build/web', isSinglePage: true } : undefined;
    return { name, versions, framework: { name: 'flutter', port: null }, output };
  },
};

export const dartServer: Language = {
  ...dart,
  image: 'dart:{version}',
  imageVersion: 'stable',
  install: 'dart pub get',
  read(project, file) {
    const { name, dependencies, versions } = readPubspec(project, file);
    const framework = frameworkNamed(dartFrameworks, (word) => Object.hasOwn(dependencies, word));
    const common = { name, versions, framework };
    if (framework?.name === 'dart-frog')
      return { ...common, build: 'dart_frog build', start: 'dart build/bin/server.dart' };
    const entry = dartEntry(project, name ?? 'app');
    if (entry === undefined) return common;
    const program = entry.replace(/\.dart$/, '');
    return { ...common, build: `dart compile exe ${entry} -o ${program}`, start: `./${program}` };
  },
};

function dartEntry(project: Project, name: string): string | undefined {
  const names = ['bin/server', 'bin/main', `bin/${name}`, 'bin/app', 'main', 'server'];
  const [first] = [...(project.repository.directory(project.at('bin'))?.files ?? [])]
    .filter((each) => each.endsWith('.dart'))
    .sort();
  const path = project.first(...names.map((each) => `${each}.dart`)) ?? (first && project.at(`bin/${first}`));
  const hasMain = path !== undefined && project.repository.find(path, /\bmain\s*\(/) !== undefined;
  return hasMain ? project.relative(path) : undefined;
}

export const crystal: Language = {
  language: 'crystal',
  image: 'crystallang/crystal:{version}',
  imageVersion: '1',
  markers: ['shard.yml'],
  endings: ['.cr'],
  frameworks: {
    lucky: 3000,
    amber: 3000,
    kemal: 3000,
    grip: 4004,
    athena: 3000,
    marten: 8000,
    'action-controller': ['spider-gazelle', 3000],
  },
  manager: 'shards',
  lockFile: 'shard.lock',
  install: 'shards install --production',
  read(project, file, framework) {
    const shard = project.yaml('shard.yml');
    const name = stringAt(shard, 'name');
    const targets = Object.keys(objectAt(shard, 'targets'));
    const program = targets.find((each) => each === name) ?? targets[0];
    const wanted = asked(stringAt(shard, 'crystal'), file, 'crystal');
    const versions = { crystal: versionLine('crystal', toolVersion(project, 'crystal') ?? wanted) };
    if (program !== undefined)
      return { name, versions, build: 'shards build --release --production', start: `./bin/${program}` };
    return {
      name,
      versions,
      build: `crystal build --release -o bin/${name} src/${name}.cr`,
      start: framework && project.has(`src/${name}.cr`) ? `./bin/${name}` : undefined,
    };
  },
};

const swiftOptions: Readonly<Record<string, string>> = {
  vapor: ' serve --env production --hostname 0.0.0.0 --port $PORT',
  hummingbird: ' --hostname 0.0.0.0 --port $PORT',
};

export const swift: Language = {
  language: 'swift',
  image: 'swift:{version}',
  imageVersion: '6.0',
  markers: ['Package.swift'],
  endings: ['.swift'],
  frameworks: { vapor: 8080, hummingbird: 8080, Kitura: ['kitura', 8080], perfect: 8181 },
  manager: 'swiftpm',
  lockFile: 'Package.resolved',
  install: 'swift package resolve',
  build: 'swift build -c release',
  read(project, file, framework) {
    const manifest = project.repository.lines(file).join('\n');
    const named = (form: RegExp) => form.exec(manifest)?.[1];
    const name = named(/\bname:\s*"([\w-]{1,80})"/);
    const product =
      named(/\.executable\(\s*name:\s*"([\w-]{1,80})"/) ??
      named(/\.executableTarget\(\s*name:\s*"([\w-]{1,80})"/) ??
      (project.has('Sources/main.swift') ? name : undefined);
    const wanted = named(/swift-tools-version:\s*([\d.]+)/);
    return {
      name,
      versions: {
        swift:
          toolVersion(project, 'swift') ??
          (wanted === undefined ? undefined : evidenced(wanted, certain, file, 'swift-tools-version')),
      },
      start: product && `.build/release/${product}${swiftOptions[framework?.name ?? ''] ?? ''}`,
    };
  },
};

/** What the manifest itself asks for. */
function asked(range: string | undefined, file: string, key: string): Evidenced<string> | undefined {
  return range === undefined ? undefined : evidenced(range, certain, file, `${key} ${range.slice(0, 40)}`);
}

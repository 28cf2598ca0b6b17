/** Clojure, with Leiningen or deps.edn. */
import type { Detector } from '../../detector.ts';
import { join, nameOf, type Repository } from '../../repository.ts';
import { findIn, ownSources } from '../code.ts';
import { manager } from '../draft.ts';
import { toolVersion } from '../tool-versions.ts';
import { frameworkIn, plainApp } from './plain-app.ts';

const frameworks = {
  'luminus-transit': ['luminus', 3000],
  'luminus-undertow': ['luminus', 3000],
  'luminus-jetty': ['luminus', 3000],
  'luminus-http-kit': ['luminus', 3000],
  'io.github.kit-clj/kit-core': ['kit', 3000],
  'io.pedestal/pedestal.service': ['pedestal', 8080],
  'io.pedestal/pedestal.http-kit': ['pedestal', 8080],
  'io.pedestal/pedestal.jetty': ['pedestal', 8080],
  compojure: ['compojure', 3000],
  'metosin/reitit': ['reitit', 3000],
  'http-kit': ['http-kit', 8080],
  ring: ['ring', 3000],
  'ring/ring-jetty-adapter': ['ring', 3000],
  'ring/ring-core': ['ring', 3000],
} as const;

const endings = ['.clj', '.cljc'];

export const clojure: Detector = {
  name: 'clojure',
  detect({ path, files }, repository) {
    if (files.has('project.clj')) return [lein(repository, path)];
    if (files.has('deps.edn')) return [tools(repository, path)];
    return [];
  },
};

function lein(repository: Repository, directory: string) {
  const file = join(directory, 'project.clj');
  const head = findIn(repository, file, /^\(defproject\s+(\S+)\s+"([^"]+)"/);
  const name = head?.match[1]?.split('/').at(-1) ?? (nameOf(directory) || 'app');
  const jar = findIn(repository, file, /:uberjar-name\s+"([^"\s]+)"/)?.match[1];
  const target =
    findIn(repository, file, /:target-path\s+"([^"%\s]+)/)?.match[1]?.replace(/\/$/, '') ?? 'target';
  const hasProfile = findIn(repository, file, /:target-path\s+"target\/%s/) !== undefined;
  const folder = hasProfile ? 'target/uberjar' : target;
  const version = head?.match[2] ?? '*';
  return plainApp(repository, {
    language: 'clojure',
    directory,
    file,
    name,
    framework: frameworkIn(repository, [file], frameworks),
    manager: manager('lein', undefined, file),
    versions: { java: toolVersion(repository, directory, 'java') },
    install: 'lein deps',
    build: 'lein uberjar',
    start: `java -jar ${folder}/${jar ?? `${name}-${version}-standalone.jar`}`,
    endings,
  });
}

function tools(repository: Repository, directory: string) {
  const file = join(directory, 'deps.edn');
  const script = repository.firstOf(directory, ['build.clj']);
  const sources = ownSources(repository, directory, endings);
  const main = sources.find((path) => findIn(repository, path, /^\(defn\s+-main\b/));
  const namespace = main && findIn(repository, main, /^\(ns\s+([\w.-]+)/)?.match[1];
  const alias = findIn(repository, file, /^\s*\{?:?(?:aliases\s*\{)?\s*:(run|start|serve|server|main|prod)\b/)
    ?.match[1];
  const jar = script && findIn(repository, script, /"(target\/[\w.%-]+\.jar)"/)?.match[1];
  const run = alias ? `clojure -M:${alias}` : namespace ? `clojure -M -m ${namespace}` : undefined;
  const built = jar?.includes('%') || !jar ? 'target/*.jar' : jar;
  const task =
    script && (findIn(repository, script, /^\(defn\s+(uber|uberjar|all)\b/)?.match[1] ?? undefined);
  return plainApp(repository, {
    language: 'clojure',
    directory,
    file,
    framework: frameworkIn(repository, [file], frameworks),
    manager: manager('clojure', undefined, file),
    versions: { java: toolVersion(repository, directory, 'java') },
    install: 'clojure -P',
    build: task ? `clojure -T:build ${task}` : undefined,
    start: task ? `java -jar ${built}` : run,
    endings,
  });
}

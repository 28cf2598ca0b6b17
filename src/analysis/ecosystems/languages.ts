/** Every language but JavaScript. */
import type { Detector, WorkspaceFinder } from '../detector.ts';
import { dotnet } from './dotnet/dotnet.ts';
import { dotnetSolution } from './dotnet/solution.ts';
import { elixir, mixUmbrella } from './elixir/elixir.ts';
import { go } from './go/go.ts';
import { goWorkspace } from './go/go-workspace.ts';
import { jvm } from './jvm/jvm.ts';
import { gradleWorkspace, mavenWorkspace } from './jvm/jvm-workspaces.ts';
import { onlyWhere } from './only-where.ts';
import { erlang, gleam } from './other/beam.ts';
import { clojure } from './other/clojure.ts';
import { crystal, swift, zig } from './other/compiled.ts';
import { dart } from './other/dart.ts';
import { haskell } from './other/haskell.ts';
import { cobol, native } from './other/native.ts';
import { dlang, nim, ocaml, vlang } from './other/rarely-compiled.ts';
import { julia, lua, perl, rlang, scheme, shell } from './other/scripting.ts';
import { php } from './php/php.ts';
import { python } from './python/python.ts';
import { uvWorkspace } from './python/uv-workspace.ts';
import { ruby } from './ruby/ruby.ts';
import { cargoWorkspace } from './rust/cargo-workspace.ts';
import { rust } from './rust/rust.ts';
import { generators } from './static/generators.ts';
import { pages } from './static/pages.ts';

const small: readonly (readonly [string, Detector])[] = [
  ['project.clj deps.edn', clojure],
  ['stack.yaml package.yaml *.cabal', haskell],
  ['rebar.config', erlang],
  ['gleam.toml', gleam],
  ['pubspec.yaml', dart],
  ['shard.yml', crystal],
  ['Package.swift', swift],
  ['build.zig', zig],
  ['*.nimble', nim],
  ['dune-project', ocaml],
  ['v.mod', vlang],
  ['dub.json dub.sdl', dlang],
  ['CMakeLists.txt meson.build Makefile makefile GNUmakefile *.c *.cc *.cpp *.cxx', native],
  ['*.lua *.rockspec', lua],
  ['*.pl *.psgi cpanfile Makefile.PL Build.PL', perl],
  ['*.R *.r', rlang],
  ['Project.toml', julia],
  ['*.scm *.rkt', scheme],
];

export const languageDetectors: readonly Detector[] = [
  ...[python, go, rust, jvm, php, ruby],
  onlyWhere('*.csproj *.fsproj *.vbproj', dotnet),
  elixir,
  ...small.map(([marks, detector]) => onlyWhere(marks, detector)),
  ...[cobol, generators, pages, shell],
];
export const languageWorkspaces: readonly WorkspaceFinder[] = [
  cargoWorkspace,
  goWorkspace,
  uvWorkspace,
  mavenWorkspace,
  gradleWorkspace,
  dotnetSolution,
  mixUmbrella,
];

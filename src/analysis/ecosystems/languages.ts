/** Every language but JavaScript. */
import type { Detector, WorkspaceFinder } from '../detector.ts';
import { dotnet, dotnetSolution } from './dotnet/dotnet.ts';
import { elixir, mixUmbrella } from './elixir/elixir.ts';
import { go, goWorkspace } from './go/go.ts';
import { gradleWorkspace } from './jvm/gradle.ts';
import { jvm } from './jvm/jvm.ts';
import { mavenWorkspace } from './jvm/maven.ts';
import { otherLanguages, shellScripts } from './other/other-languages.ts';
import { php } from './php/php.ts';
import { python, uvWorkspace } from './python/python.ts';
import { ruby } from './ruby/ruby.ts';
import { cargoWorkspace, rust } from './rust/rust.ts';
import { generators } from './static/generators.ts';
import { pages } from './static/pages.ts';

export const languageDetectors: readonly Detector[] = [
  python,
  go,
  rust,
  jvm,
  php,
  ruby,
  dotnet,
  elixir,
  ...otherLanguages,
  generators,
  pages,
  shellScripts,
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

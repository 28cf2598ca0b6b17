import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processorSeconds } from '../../../test/support/processor-time.ts';
import { Project } from '../project.ts';
import { Repository } from '../repository.ts';
import { languageDetectors, languageWorkspaces } from './languages.ts';

const names =
  `requirements.txt pyproject.toml Pipfile setup.py setup.cfg environment.yml manage.py main.py go.mod go.work main.go
  Cargo.toml src/main.rs pom.xml build.gradle build.gradle.kts settings.gradle settings.gradle.kts build.sbt Main.java composer.json
  index.php Gemfile Gemfile.lock config.ru App.csproj App.sln global.json mix.exs project.clj deps.edn stack.yaml package.yaml
  rebar.config pubspec.yaml shard.yml Package.swift CMakeLists.txt
  meson.build Makefile main.c index.cbl main.lua app.pl app.R Project.toml haunt.scm start.sh Staticfile index.html hugo.toml
  config.toml _config.yml mkdocs.yml conf.py .tool-versions mise.toml devbox.json config/database.yml
  src/main/resources/application.yml Directory.Build.props`.split(/\s+/);

const hostile: readonly string[] = [
  '',
  'null',
  '[]',
  '"x"',
  '{"require":[],"name":{},"dependencies":"x","sdk":3,"packages":{"__proto__":1}}',
  '__proto__:\n  x: 1\nexecutables: 3\ntargets: []\ndependencies: x\n',
  'dependencies = "x"\nname = 3\n[tool]\npoetry = 1\nuv = []\n[package]\nname = []\nmetadata = 3\n',
  '[tool.uv.workspace]\nmembers = [1, "*".x]\n',
  '<project><modules>x</modules><dependencies/><build>3</build></project>',
  '<Project Sdk=""><PropertyGroup/><ItemGroup>x</ItemGroup></Project>',
  `<!DOCTYPE x [<!ENTITY a "${'b'.repeat(1000)}">]><project><artifactId>&a;</artifactId></project>`,
  '<project>'.repeat(2000),
  `${'['.repeat(5000)}`,
  `${'{"a":'.repeat(5000)}`,
  `${'- '.repeat(2000)}`,
  'a'.repeat(100_000),
  'name = "'.repeat(10_000),
  '(defproject '.repeat(10_000),
  `add_executable(${' '.repeat(90_000)}`,
  `\u{FFFD}\0\0${'\r\n'.repeat(5_000)}`,
  'import '.repeat(20_000),
  `$${'{a}'}`.repeat(10_000),
];

function projectsOf(repository: Repository): readonly Project[] {
  return [...repository.directories.keys()].map((path) => new Project(repository, path));
}

test('no file of any language, however wrong, throws or takes long', () => {
  let slowest = { name: '', seconds: 0 };
  for (const text of hostile) {
    for (const name of names) {
      const contents = new Map([[name, Buffer.from(text)]]);
      const repository = new Repository([{ path: name, type: 'file', size: text.length }], contents);
      const seconds = processorSeconds(() => {
        for (const project of projectsOf(repository)) {
          for (const detector of languageDetectors) detector.detect(project);
        }
        for (const finder of languageWorkspaces) finder.find(repository);
      });
      if (seconds > slowest.seconds) slowest = { name: `${name}: ${text.slice(0, 30)}`, seconds };
    }
  }
  assert.ok(slowest.seconds < 5, `${slowest.name} took ${slowest.seconds} s`);
});

test('all files of one hostile content together do not throw either', () => {
  for (const text of hostile) {
    const contents = new Map(names.map((name) => [name, Buffer.from(text)]));
    const repository = new Repository(
      names.map((path) => ({ path, type: 'file' as const, size: text.length })),
      contents,
    );
    for (const project of projectsOf(repository)) {
      for (const detector of languageDetectors) {
        for (const { draft } of detector.detect(project)) {
          assert.equal(typeof draft.language?.value, 'string');
        }
      }
    }
  }
});

test('every value of a candidate names a file of the repository', () => {
  const files: Readonly<Record<string, string>> = {
    'requirements.txt': 'flask\ngunicorn\n',
    'app.py': 'from flask import Flask\napp = Flask(__name__)\n',
    'go/go.mod': 'module x\ngo 1.22\n',
    'go/main.go': 'package main\nfunc main() {}\n',
    'rust/Cargo.toml': '[package]\nname = "x"\n',
    'rust/src/main.rs': 'fn main() {}\n',
    'site/index.html': '<html></html>',
  };
  const contents = new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)]));
  const repository = new Repository(
    [...contents].map(([path, { length }]) => ({ path, type: 'file' as const, size: length })),
    contents,
  );
  for (const project of projectsOf(repository)) {
    for (const detector of languageDetectors) {
      for (const { draft } of detector.detect(project)) {
        const { versions, processes, volumes, warnings: _warnings, ...single } = draft;
        for (const value of [
          ...Object.values(single),
          ...Object.values(versions ?? {}),
          ...(processes ?? []),
          ...(volumes ?? []),
        ]) {
          assert.ok(repository.has(value.source.file), JSON.stringify(value));
        }
      }
    }
  }
});

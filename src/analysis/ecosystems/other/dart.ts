/** Dart: servers, and Flutter for the web. */
import type { Detector } from '../../detector.ts';
import { certain, type Evidenced, evidenced } from '../../evidence.ts';
import { isParsed, join, nameOf, type Parsed, type Repository } from '../../repository.ts';
import { findIn, within } from '../code.ts';
import { manager } from '../draft.ts';
import { toolVersion } from '../tool-versions.ts';
import { versionLine } from '../version-lines.ts';
import { plainApp } from './plain-app.ts';

const frameworks: Readonly<Record<string, number>> = {
  dart_frog: 8080,
  serverpod: 8080,
  shelf: 8080,
  alfred: 3000,
  angel3_framework: 3000,
  conduit: 8888,
  relic: 8080,
  jaspr: 8080,
};

export const dart: Detector = {
  name: 'dart',
  detect({ path }, repository) {
    const file = join(path, 'pubspec.yaml');
    if (!repository.has(file)) return [];
    const manifest: Parsed = repository.yaml(file) ?? {};
    const all = isParsed(manifest.dependencies) ? manifest.dependencies : {};
    const lock = repository.firstOf(path, ['pubspec.lock']);
    const name = typeof manifest.name === 'string' ? manifest.name : undefined;
    const versions = {
      dart: versionLine('dart', toolVersion(repository, path, 'dart') ?? asked(manifest, 'sdk', file)),
      flutter: toolVersion(repository, path, 'flutter'),
    };
    const common = { language: 'dart', directory: path, file, name, versions, endings: ['.dart'] };
    if (isParsed(all.flutter)) {
      const isWeb = repository.has(join(path, 'web/index.html'));
      return [
        plainApp(repository, {
          ...common,
          framework: { name: 'flutter', port: null },
          manager: manager('pub', lock, file),
          install: 'flutter pub get',
          build: 'flutter build web --release',
          output: isWeb ? { directory: 'build/web', isSinglePage: true } : undefined,
        }),
      ];
    }
    const found = Object.keys(frameworks).find((each) => Object.hasOwn(all, each));
    const framework =
      found === undefined ? undefined : { name: found.replaceAll('_', '-'), port: frameworks[found] ?? null };
    const isFrog = found === 'dart_frog';
    const entry = entryOf(repository, path, name);
    const program = entry?.replace(/\.dart$/, '');
    return [
      plainApp(repository, {
        ...common,
        framework: found === 'angel3_framework' ? { name: 'angel', port: 3000 } : framework,
        manager: manager('pub', lock, file),
        install: 'dart pub get',
        build: isFrog
          ? 'dart_frog build'
          : entry === undefined
            ? undefined
            : `dart compile exe ${entry} -o ${program}`,
        start: isFrog ? 'dart build/bin/server.dart' : program === undefined ? undefined : `./${program}`,
      }),
    ];
  },
};

function entryOf(repository: Repository, directory: string, name: string | undefined): string | undefined {
  const names = [
    'bin/server.dart',
    'bin/main.dart',
    `bin/${name ?? 'app'}.dart`,
    'bin/app.dart',
    'main.dart',
    'server.dart',
  ];
  const known = names.map((each) => join(directory, each)).find((path) => repository.has(path));
  const [first] = [...(repository.directory(join(directory, 'bin'))?.files ?? [])]
    .filter((each) => each.endsWith('.dart'))
    .sort();
  const path = known ?? (first === undefined ? undefined : join(directory, `bin/${first}`));
  return path !== undefined && findIn(repository, path, /\bmain\s*\(/) && nameOf(path)
    ? within(directory, path)
    : undefined;
}

function asked(manifest: Parsed, key: string, file: string): Evidenced<string> | undefined {
  const wanted = isParsed(manifest.environment) ? manifest.environment[key] : undefined;
  return typeof wanted === 'string'
    ? evidenced(wanted, certain, file, `${key} ${wanted.slice(0, 40)}`)
    : undefined;
}

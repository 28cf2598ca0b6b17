/** Compiled languages with one tool each: Crystal, Swift and Zig. */
import type { Detector } from '../../detector.ts';
import { certain, evidenced } from '../../evidence.ts';
import { isParsed, join } from '../../repository.ts';
import { findIn, linesOf } from '../code.ts';
import { manager } from '../draft.ts';
import { toolVersion } from '../tool-versions.ts';
import { versionLine } from '../version-lines.ts';
import { frameworkIn, plainApp } from './plain-app.ts';

export const crystal: Detector = {
  name: 'crystal',
  detect({ path }, repository) {
    const file = join(path, 'shard.yml');
    if (!repository.has(file)) return [];
    const shard = repository.yaml(file);
    const name = typeof shard?.name === 'string' ? shard.name : undefined;
    const targets = isParsed(shard?.targets) ? Object.keys(shard.targets) : [];
    const program = targets.find((each) => each === name) ?? targets[0];
    const main = join(path, `src/${name}.cr`);
    const asked =
      typeof shard?.crystal === 'string'
        ? evidenced(shard.crystal, certain, file, `crystal ${shard.crystal}`)
        : undefined;
    const framework = frameworkIn(repository, [file], {
      lucky: ['lucky', 3000],
      amber: ['amber', 3000],
      kemal: ['kemal', 3000],
      grip: ['grip', 4004],
      athena: ['athena', 3000],
      marten: ['marten', 8000],
      'action-controller': ['spider-gazelle', 3000],
    });
    return [
      plainApp(repository, {
        language: 'crystal',
        directory: path,
        file,
        name,
        framework,
        manager: manager('shards', repository.firstOf(path, ['shard.lock']), file),
        versions: { crystal: versionLine('crystal', toolVersion(repository, path, 'crystal') ?? asked) },
        install: 'shards install --production',
        build:
          program === undefined
            ? `crystal build --release -o bin/${name} src/${name}.cr`
            : 'shards build --release --production',
        start:
          program !== undefined
            ? `./bin/${program}`
            : framework && repository.has(main)
              ? `./bin/${name}`
              : undefined,
        endings: ['.cr'],
      }),
    ];
  },
};

export const swift: Detector = {
  name: 'swift',
  detect({ path, files }, repository) {
    const file = join(path, 'Package.swift');
    if (!files.has('Package.swift')) return [];
    const framework = frameworkIn(repository, [file], {
      vapor: ['vapor', 8080],
      hummingbird: ['hummingbird', 8080],
      Kitura: ['kitura', 8080],
      perfect: ['perfect', 8181],
    });
    const lines = linesOf(repository, file).join('\n');
    const target =
      /\.executableTarget\(\s*name:\s*"([\w-]{1,80})"/.exec(lines)?.[1] ??
      /\.executable\(\s*name:\s*"([\w-]{1,80})"/.exec(lines)?.[1];
    const hasMain = repository.has(join(path, 'Sources/main.swift'));
    const name = /\bname:\s*"([\w-]{1,80})"/.exec(lines)?.[1];
    const product =
      /\.executable\(\s*name:\s*"([\w-]{1,80})"/.exec(lines)?.[1] ?? target ?? (hasMain ? name : undefined);
    const options: Readonly<Record<string, string>> = {
      vapor: ' serve --env production --hostname 0.0.0.0 --port $PORT',
      hummingbird: ' --hostname 0.0.0.0 --port $PORT',
    };
    const needed = /swift-tools-version:\s*([\d.]+)/.exec(lines)?.[1];
    return [
      plainApp(repository, {
        language: 'swift',
        directory: path,
        file,
        name,
        framework,
        manager: manager('swiftpm', repository.firstOf(path, ['Package.resolved']), file),
        versions: {
          swift:
            toolVersion(repository, path, 'swift') ??
            (needed === undefined ? undefined : evidenced(needed, certain, file, 'swift-tools-version')),
        },
        install: 'swift package resolve',
        build: 'swift build -c release',
        start:
          product === undefined
            ? undefined
            : `.build/release/${product}${options[framework?.name ?? ''] ?? ''}`,
        endings: ['.swift'],
      }),
    ];
  },
};

export const zig: Detector = {
  name: 'zig',
  detect({ path, files }, repository) {
    const file = join(path, 'build.zig');
    if (!files.has('build.zig')) return [];
    const zon = join(path, 'build.zig.zon');
    const lines = linesOf(repository, file).join('\n');
    const name =
      /addExecutable\(\s*\.\{[^}]{0,200}?\.name\s*=\s*"([\w.-]{1,80})"/.exec(lines)?.[1] ??
      /addExecutable\(\s*"([\w.-]{1,80})"/.exec(lines)?.[1];
    const least = findIn(repository, zon, /\.minimum_zig_version\s*=\s*"([\d.]+)/)?.match[1];
    const isOld = /addExecutable\(\s*"/.test(lines);
    return [
      plainApp(repository, {
        language: 'zig',
        directory: path,
        file,
        name,
        framework: frameworkIn(repository, [zon, file], {
          jetzig: ['jetzig', 8080],
          zap: ['zap', 3000],
          httpz: ['httpz', 5882],
          tokamak: ['tokamak', 8080],
          zzz: ['zzz', 9862],
        }),
        manager: manager('zig', undefined, repository.has(zon) ? zon : file),
        versions: {
          zig:
            toolVersion(repository, path, 'zig') ??
            (least === undefined ? undefined : evidenced(least, certain, zon, 'minimum_zig_version')),
        },
        build: isOld ? 'zig build -Drelease-safe=true' : 'zig build -Doptimize=ReleaseSafe',
        start: name === undefined ? undefined : `./zig-out/bin/${name}`,
        endings: ['.zig'],
      }),
    ];
  },
};

/** Erlang and Gleam. */
import type { Detector } from '../../detector.ts';
import { isParsed, join } from '../../repository.ts';
import { findIn } from '../code.ts';
import { manager } from '../draft.ts';
import { toolVersion } from '../tool-versions.ts';
import { frameworkIn, plainApp } from './plain-app.ts';

export const erlang: Detector = {
  name: 'erlang',
  detect({ path }, repository) {
    const file = join(path, 'rebar.config');
    if (!repository.has(file)) return [];
    const name = findIn(repository, file, /\{release,\s*\{\s*'?(\w+)'?/)?.match[1];
    return [
      plainApp(repository, {
        language: 'erlang',
        directory: path,
        file,
        name,
        framework: frameworkIn(repository, [file], {
          nova: ['nova', 8080],
          cowboy: ['cowboy', 8080],
          elli: ['elli', 8080],
          yaws: ['yaws', 8080],
        }),
        manager: manager('rebar3', repository.firstOf(path, ['rebar.lock']), file),
        versions: { erlang: toolVersion(repository, path, 'erlang') },
        install: 'rebar3 get-deps',
        build: name === undefined ? 'rebar3 compile' : 'rebar3 as prod release',
        start: name === undefined ? undefined : `_build/prod/rel/${name}/bin/${name} foreground`,
        endings: ['.erl'],
      }),
    ];
  },
};

export const gleam: Detector = {
  name: 'gleam',
  detect({ path }, repository) {
    const file = join(path, 'gleam.toml');
    if (!repository.has(file)) return [];
    const manifest = repository.toml(file);
    const name = typeof manifest?.name === 'string' ? manifest.name : undefined;
    const all = isParsed(manifest?.dependencies) ? manifest.dependencies : {};
    const isScript = manifest?.target === 'javascript';
    const has = (each: string) => Object.hasOwn(all, each);
    const framework = has('wisp')
      ? { name: 'wisp', port: 8000 }
      : has('mist')
        ? { name: 'mist', port: 8000 }
        : has('lustre')
          ? { name: 'lustre', port: null }
          : undefined;
    const isPage = framework?.name === 'lustre' && isScript;
    const hasMain =
      name !== undefined &&
      findIn(repository, join(path, `src/${name}.gleam`), /^pub fn main\(/) !== undefined;
    const server = hasMain
      ? isScript
        ? 'gleam run'
        : './build/erlang-shipment/entrypoint.sh run'
      : undefined;
    return [
      plainApp(repository, {
        language: 'gleam',
        directory: path,
        file,
        name,
        framework,
        manager: manager('gleam', repository.firstOf(path, ['manifest.toml']), file),
        versions: { gleam: toolVersion(repository, path, 'gleam') },
        install: 'gleam deps download',
        build: isPage
          ? 'gleam run -m lustre/dev build --minify'
          : isScript
            ? 'gleam build'
            : 'gleam export erlang-shipment',
        start: isPage ? undefined : server,
        output: isPage ? { directory: 'dist', isSinglePage: true } : undefined,
        endings: ['.gleam'],
      }),
    ];
  },
};

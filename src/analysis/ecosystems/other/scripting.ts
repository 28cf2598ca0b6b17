/** Languages that are run from their sources: Lua, Perl, R, Julia, Scheme, Racket, and shell scripts as a last resort. */
import type { Detector } from '../../detector.ts';
import { isParsed, join, nameOf, type Repository } from '../../repository.ts';
import { filesIn, findIn, ownSources, within } from '../code.ts';
import { manager } from '../draft.ts';
import { toolVersion } from '../tool-versions.ts';
import { frameworkIn, plainApp } from './plain-app.ts';

function entry(repository: Repository, directory: string, names: readonly string[]): string | undefined {
  return names.map((name) => join(directory, name)).find((path) => repository.has(path));
}

export const lua: Detector = {
  name: 'lua',
  detect({ path }, repository) {
    const [rock] = filesIn(repository, path, '.rockspec');
    const file = entry(repository, path, ['main.lua', 'app.lua', 'server.lua', 'init.lua', 'src/main.lua']);
    if (rock === undefined && (file === undefined || path !== '')) return [];
    const source = rock ?? file ?? path;
    const framework = frameworkIn(repository, [...(rock ? [rock] : []), ...(file ? [file] : [])], {
      lapis: ['lapis', 8080],
      pegasus: ['pegasus', 9090],
      milua: ['milua', 8800],
    });
    const isLapis = framework?.name === 'lapis';
    const run = file && `lua ${within(path, file)}`;
    return [
      plainApp(repository, {
        language: 'lua',
        directory: path,
        file: source,
        framework,
        manager:
          rock === undefined
            ? undefined
            : manager('luarocks', repository.firstOf(path, ['luarocks.lock']), rock),
        versions: { lua: toolVersion(repository, path, 'lua') },
        install: rock === undefined ? undefined : `luarocks install --only-deps ${nameOf(rock)}`,
        start: isLapis ? 'lapis server production' : run,
        endings: ['.lua'],
        score: framework ? 0.85 : rock ? 0.6 : 0.4,
      }),
    ];
  },
};

export const perl: Detector = {
  name: 'perl',
  detect({ path, files }, repository) {
    const list = repository.firstOf(path, ['cpanfile', 'Makefile.PL', 'Build.PL']);
    const scripts = [
      'app.psgi',
      'bin/app.psgi',
      'app.pl',
      'main.pl',
      'server.pl',
      'index.pl',
      'script/app',
      'myapp.pl',
    ];
    const script =
      entry(repository, path, scripts) ??
      filesIn(repository, path, '.psgi')[0] ??
      (path === repository.root ? filesIn(repository, path, '.pl')[0] : undefined);
    if (script === undefined || (list === undefined && path !== '')) return [];
    const framework = frameworkIn(repository, [...(list ? [list] : []), script], {
      Mojolicious: ['mojolicious', 3000],
      'Mojolicious::Lite': ['mojolicious', 3000],
      Dancer2: ['dancer', 5000],
      Dancer: ['dancer', 5000],
      Catalyst: ['catalyst', 5000],
      Plack: ['plack', 5000],
    });
    const name = within(path, script);
    const served = script.endsWith('.psgi') ? `plackup --host 0.0.0.0 --port $PORT ${name}` : `perl ${name}`;
    const isCarton = files.has('cpanfile.snapshot');
    return [
      plainApp(repository, {
        language: 'perl',
        directory: path,
        file: script,
        framework,
        manager:
          list === undefined
            ? undefined
            : manager(
                isCarton ? 'carton' : 'cpanm',
                isCarton ? join(path, 'cpanfile.snapshot') : undefined,
                list,
              ),
        versions: { perl: toolVersion(repository, path, 'perl') },
        install:
          list === undefined ? undefined : isCarton ? 'carton install --deployment' : 'cpanm --installdeps .',
        start:
          framework?.name === 'mojolicious'
            ? `perl ${name} daemon -m production -l 'http://*:'$PORT`
            : served,
        endings: ['.pl', '.psgi', '.pm'],
        score: framework ? 0.85 : list ? 0.6 : 0.4,
      }),
    ];
  },
};

export const rlang: Detector = {
  name: 'r',
  detect({ path }, repository) {
    const shiny = entry(repository, path, ['app.R', 'server.R', 'app.r']);
    const plumber = entry(repository, path, ['plumber.R', 'api.R', 'entrypoint.R']);
    const script = entry(repository, path, ['main.R', 'run.R', 'index.R']);
    const file = shiny ?? plumber ?? script;
    if (file === undefined) return [];
    const port = "host='0.0.0.0', port=as.integer(Sys.getenv('PORT'))";
    const isPlumber = file === plumber || findIn(repository, file, /\bplumber\b/) !== undefined;
    const isShiny = !isPlumber && shiny !== undefined;
    const name = nameOf(file);
    const lock = repository.firstOf(path, ['renv.lock']);
    const serve = isShiny
      ? `shiny::runApp('.', ${port})`
      : `plumber::pr_run(plumber::pr('${name}'), ${port})`;
    return [
      plainApp(repository, {
        language: 'r',
        directory: path,
        file,
        framework: isShiny
          ? { name: 'shiny', port: 3838 }
          : isPlumber
            ? { name: 'plumber', port: 8000 }
            : undefined,
        manager: lock ? manager('renv', lock, lock) : undefined,
        versions: { r: toolVersion(repository, path, 'R') },
        install: lock ? 'Rscript -e "renv::restore()"' : undefined,
        start: isShiny || isPlumber ? `Rscript -e "${serve}"` : `Rscript ${name}`,
        endings: ['.R', '.r'],
        score: isShiny || isPlumber ? 0.85 : 0.4,
      }),
    ];
  },
};

export const julia: Detector = {
  name: 'julia',
  detect({ path, files }, repository) {
    const file = join(path, 'Project.toml');
    if (!files.has('Project.toml')) return [];
    const manifest = repository.toml(file);
    const all = isParsed(manifest?.deps) ? manifest.deps : {};
    const has = (name: string) => Object.hasOwn(all, name);
    const framework = has('Genie')
      ? { name: 'genie', port: 8000 }
      : has('Oxygen')
        ? { name: 'oxygen', port: 8080 }
        : has('HTTP')
          ? { name: 'http.jl', port: 8081 }
          : undefined;
    const name = typeof manifest?.name === 'string' ? manifest.name : undefined;
    const script = entry(repository, path, [
      'main.jl',
      'app.jl',
      'server.jl',
      'run.jl',
      'src/main.jl',
      'src/app.jl',
      ...(name ? [`src/${name}.jl`] : []),
    ]);
    return [
      plainApp(repository, {
        language: 'julia',
        directory: path,
        file,
        name,
        framework,
        manager: manager('pkg', repository.firstOf(path, ['Manifest.toml']), file),
        versions: { julia: toolVersion(repository, path, 'julia') },
        install: `julia --project -e 'using Pkg; Pkg.instantiate()'`,
        start: script && `julia --project ${within(path, script)}`,
        endings: ['.jl'],
      }),
    ];
  },
};

export const scheme: Detector = {
  name: 'scheme',
  detect({ path, files }, repository) {
    if (files.has('haunt.scm')) {
      const file = join(path, 'haunt.scm');
      const output = { directory: 'site', isSinglePage: false };
      return [
        plainApp(repository, {
          language: 'scheme',
          directory: path,
          file,
          framework: { name: 'haunt', port: null },
          build: 'haunt build',
          output,
          endings: ['.scm'],
        }),
      ];
    }
    const racket = entry(repository, path, ['main.rkt', 'app.rkt', 'server.rkt']);
    const file =
      racket ??
      (path === repository.root
        ? entry(repository, path, ['main.scm', 'app.scm', 'index.scm', 'server.scm'])
        : undefined);
    if (file === undefined) return [];
    const start = `${racket ? 'racket' : 'guile'} ${nameOf(file)}`;
    return [
      plainApp(repository, {
        language: racket ? 'racket' : 'scheme',
        directory: path,
        file,
        start,
        endings: ['.scm', '.rkt'],
        score: 0.45,
      }),
    ];
  },
};

/** Whatever it starts, somebody wrote it to start this repository; anything that is known better goes first. */
export const shell: Detector = {
  name: 'shell',
  detect({ path, files }, repository) {
    if (path !== '') return [];
    const name = ['start.sh', 'index.sh', 'main.sh', 'run.sh', 'app.sh', 'server.sh', 'entrypoint.sh'].find(
      (each) => files.has(each),
    );
    const lone = ownSources(repository, path, ['.sh']).filter((each) => !each.includes('/'));
    const file = name ?? (lone.length === 1 ? lone[0] : undefined);
    if (file === undefined) return [];
    const interpreter = findIn(repository, file, /^#!.*\b(bash|zsh|ksh|fish|dash|sh)\b/)?.match[1];
    const start = `${interpreter ?? 'bash'} ${file}`;
    return [
      plainApp(repository, {
        language: 'shell',
        directory: path,
        file,
        start,
        endings: ['.sh'],
        score: name === 'start.sh' ? 0.4 : 0.35,
      }),
    ];
  },
};

/** Languages that are run from their sources, and shell scripts as a last resort. */
import { objectAt, stringAt } from '../../readers/shape.ts';
import { nameOf } from '../../repository.ts';
import { type Frameworks, frameworkNamed, type Language } from './language.ts';

const debian = 'debian:trixie-slim';

export const lua: Language = {
  language: 'lua',
  image: debian,
  packages: ['lua5.4', 'luarocks'],
  asRoot: true,
  markers: ['*.rockspec', '*.lua'],
  endings: ['.lua'],
  frameworks: { lapis: 8080, pegasus: 9090, milua: 8800 },
  manifests: (project) => [
    project.withEnding('.rockspec')[0],
    project.first('main.lua', 'app.lua', 'server.lua', 'init.lua', 'src/main.lua'),
  ],
  tools: ['lua'],
  read(project, _marker, framework) {
    const [rock, script] = lua.manifests?.(project) ?? [];
    const file = rock ?? (project.isRoot ? script : undefined);
    if (file === undefined) return undefined;
    const run = script && `lua ${project.relative(script)}`;
    return {
      file,
      ...(rock && {
        manager: ['luarocks', rock] as const,
        lockFile: project.first('luarocks.lock'),
        install: `luarocks install --only-deps ${nameOf(rock)}`,
      }),
      start: framework?.name === 'lapis' ? 'lapis server production' : run,
      score: framework ? 0.85 : rock ? 0.6 : 0.4,
    };
  },
};

export const perl: Language = {
  language: 'perl',
  image: 'perl:{version}',
  imageVersion: '5',
  asRoot: true,
  markers: ['cpanfile', 'Makefile.PL', 'Build.PL', '*.psgi', '*.pl'],
  endings: ['.pl', '.psgi', '.pm'],
  frameworks: {
    Mojolicious: ['mojolicious', 3000],
    'Mojolicious::Lite': ['mojolicious', 3000],
    Dancer2: ['dancer', 5000],
    Dancer: ['dancer', 5000],
    Catalyst: ['catalyst', 5000],
    Plack: ['plack', 5000],
  },
  manifests: (project) => [
    project.first('cpanfile', 'Makefile.PL', 'Build.PL'),
    project.first(
      'app.psgi',
      'bin/app.psgi',
      'app.pl',
      'main.pl',
      'server.pl',
      'index.pl',
      'script/app',
      'myapp.pl',
    ) ??
      project.withEnding('.psgi')[0] ??
      (project.isRoot ? project.withEnding('.pl')[0] : undefined),
  ],
  tools: ['perl'],
  read(project, _marker, framework) {
    const [list, script] = perl.manifests?.(project) ?? [];
    if (script === undefined || (list === undefined && !project.isRoot)) return undefined;
    const name = project.relative(script);
    const served = script.endsWith('.psgi') ? `plackup --host 0.0.0.0 --port $PORT ${name}` : `perl ${name}`;
    const snapshot = project.first('cpanfile.snapshot');
    return {
      file: script,
      ...(list && {
        manager: [snapshot ? 'carton' : 'cpanm', list] as const,
        lockFile: snapshot,
        install: snapshot ? 'carton install --deployment' : 'cpanm --installdeps .',
      }),
      start:
        framework?.name === 'mojolicious' ? `perl ${name} daemon -m production -l 'http://*:'$PORT` : served,
      score: framework ? 0.85 : list ? 0.6 : 0.4,
    };
  },
};

export const r: Language = {
  language: 'r',
  image: 'r-base:{version}',
  imageVersion: '4.4.2',
  asRoot: true,
  markers: ['*.R', '*.r'],
  endings: ['.R', '.r'],
  tools: ['R'],
  read(project) {
    const shiny = project.first('app.R', 'server.R', 'app.r');
    const plumber = project.first('plumber.R', 'api.R', 'entrypoint.R');
    const file = shiny ?? plumber ?? project.first('main.R', 'run.R', 'index.R');
    if (file === undefined) return undefined;
    const lock = project.first('renv.lock');
    const common = {
      file,
      ...(lock && {
        manager: ['renv', lock] as const,
        lockFile: lock,
        install: 'Rscript -e "renv::restore()"',
      }),
    };
    const port = "host='0.0.0.0', port=as.integer(Sys.getenv('PORT'))";
    const name = nameOf(file);
    const serve = (framework: string, usual: number, call: string) => ({
      ...common,
      framework: { name: framework, port: usual },
      start: `Rscript -e "${call}"`,
      score: 0.85,
    });
    if (file === plumber || project.repository.find(file, /\bplumber\b/))
      return serve('plumber', 8000, `plumber::pr_run(plumber::pr('${name}'), ${port})`);
    if (shiny) return serve('shiny', 3838, `shiny::runApp('.', ${port})`);
    return { ...common, start: `Rscript ${name}`, score: 0.4 };
  },
};

const juliaFrameworks: Frameworks = {
  Genie: ['genie', 8000],
  Oxygen: ['oxygen', 8080],
  HTTP: ['http.jl', 8081],
};

export const julia: Language = {
  language: 'julia',
  image: 'julia:{version}',
  imageVersion: '1',
  markers: ['Project.toml'],
  endings: ['.jl'],
  manager: 'pkg',
  lockFile: 'Manifest.toml',
  tools: ['julia'],
  install: `julia --project -e 'using Pkg; Pkg.instantiate()'`,
  read(project) {
    const manifest = project.toml('Project.toml');
    const all = objectAt(manifest, 'deps');
    const name = stringAt(manifest, 'name');
    const names = ['main', 'app', 'server', 'run', 'src/main', 'src/app', ...(name ? [`src/${name}`] : [])];
    const script = project.first(...names.map((each) => `${each}.jl`));
    return {
      name,
      framework: frameworkNamed(juliaFrameworks, (word) => Object.hasOwn(all, word)),
      start: script && `julia --project ${project.relative(script)}`,
    };
  },
};

export const scheme: Language = {
  language: 'scheme',
  image: debian,
  packages: ['guile-3.0', 'chicken-bin'],
  markers: ['*.scm'],
  endings: ['.scm'],
  read(project) {
    if (project.files.has('haunt.scm'))
      return {
        file: project.at('haunt.scm'),
        framework: { name: 'haunt', port: null },
        build: 'haunt build',
        output: { directory: 'site', isSinglePage: false },
      };
    const file = project.isRoot ? project.first('main.scm', 'app.scm', 'index.scm', 'server.scm') : undefined;
    return file === undefined ? undefined : { file, start: `guile ${nameOf(file)}`, score: 0.45 };
  },
};

/** Whatever it starts, somebody wrote it to start this repository; anything that is known better goes first. */
export const shell: Language = {
  language: 'shell',
  image: debian,
  packages: ['ca-certificates', 'curl'],
  markers: ['*.sh'],
  endings: ['.sh'],
  read(project) {
    if (!project.isRoot) return undefined;
    const names = ['start', 'index', 'main', 'run', 'app', 'server', 'entrypoint'];
    const lone = project.withEnding('.sh');
    const file =
      project.first(...names.map((name) => `${name}.sh`)) ?? (lone.length === 1 ? lone[0] : undefined);
    if (file === undefined) return undefined;
    const name = project.relative(file);
    const interpreter = project.capture(name, /^#!.*\b(bash|zsh|ksh|fish|dash|sh)\b/);
    return { file, start: `${interpreter ?? 'bash'} ${name}`, score: name === 'start.sh' ? 0.4 : 0.35 };
  },
};

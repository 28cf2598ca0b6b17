/** C and C++ with CMake, Meson or Make, and COBOL. */
import type { Project } from '../../project.ts';
import { nameOf, parentOf } from '../../repository.ts';
import type { Language, ProjectFacts } from './language.ts';

const debian = 'debian:trixie-slim';
const endings = ['.c', '.cc', '.cpp', '.cxx'];

export const cpp: Language = {
  language: 'cpp',
  image: debian,
  packages: ['build-essential', 'cmake', 'meson', 'ninja-build', 'pkg-config'],
  markers: 'CMakeLists.txt meson.build Makefile makefile GNUmakefile *.c *.cc *.cpp *.cxx'.split(' '),
  endings,
  frameworks: {
    drogon: 8080,
    crow: 18_080,
    oatpp: 8000,
    pistache: 9080,
    httplib: ['cpp-httplib', 8080],
    restinio: 8080,
    cpprest: 8080,
    userver: 8080,
    wt: 8080,
    mongoose: 8000,
    microhttpd: ['libmicrohttpd', 8080],
  },
  manifests: (project) => [buildFile(project), project.first('vcpkg.json'), conanFile(project)],
  read(project) {
    const file = buildFile(project);
    if (file === undefined) return undefined;
    const facts = readBuild(project, file);
    if (!facts) return undefined;
    const sources = project.sources(endings);
    const isC = sources.length > 0 && sources.every((path) => path.endsWith('.c'));
    const conan = conanFile(project);
    const vcpkg = project.first('vcpkg.json');
    return {
      ...(conan && {
        manager: ['conan', conan] as const,
        lockFile: project.first('conan.lock'),
        install: 'conan install . --output-folder=build --build=missing',
      }),
      ...(!conan && vcpkg && { manager: ['vcpkg', vcpkg] as const }),
      language: isC ? 'c' : 'cpp',
      file,
      ...facts,
    };
  },
};

/** Only for its image: whether it is one or the other is seen by the sources. */
export const c: Language = { language: 'c', image: debian, packages: cpp.packages ?? [] };

function conanFile(project: Project): string | undefined {
  return project.first('conanfile.txt', 'conanfile.py');
}

/** The build's file, or the source that has `main` where there is no build. */
function buildFile(project: Project): string | undefined {
  const makefile = project.first('Makefile', 'makefile', 'GNUmakefile');
  const own = project.withEnding(...endings);
  const below = () =>
    own.length > 0 || project.sources(endings).some((path) => project.relative(path).startsWith('src/'));
  return (
    project.first('CMakeLists.txt', 'meson.build') ??
    (makefile !== undefined && below() ? makefile : undefined) ??
    (project.isRoot ? project.repository.find(own, /\bmain\s*\(/)?.file : undefined)
  );
}

function readBuild(project: Project, file: string): ProjectFacts | undefined {
  const name = nameOf(file);
  const parent = parentOf(project.path);
  if (name === 'CMakeLists.txt' || name === 'meson.build') {
    // A part of the build above.
    if (parent !== undefined && project.repository.upwards(parent, [name])) return undefined;
    return name === 'CMakeLists.txt' ? cmake(project, file) : meson(project, file);
  }
  return /makefile$/i.test(name) ? make(project, name) : lone(project, file);
}

function cmake(project: Project, file: string): ProjectFacts {
  const name = project.repository.capture(file, /^\s*project\s*\(\s*"?([\w.-]+)/i);
  const program = programIn(project, file, (path) => {
    const found = project.repository.capture(path, /^\s*add_executable\s*\(\s*("?[\w.${}-]+"?)/i);
    if (found !== undefined && /test/i.test(found)) return undefined;
    const plain = found?.replaceAll('"', '').replace(/\$\{(?:CMAKE_)?PROJECT_NAME\}/, name ?? 'app');
    return plain?.includes('$') ? undefined : plain;
  });
  if (program === undefined) return { name, build: 'cmake -B build && cmake --build build' };
  return {
    name,
    build: 'cmake -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build',
    start: `./build/${program}`,
  };
}

function meson(project: Project, file: string): ProjectFacts {
  const name = project.repository.capture(file, /^\s*project\s*\(\s*'([\w .-]+)'/);
  const program = programIn(project, file, (path) => {
    const text = project.repository.lines(path).join('\n');
    const found = /\bexecutable\s*\(\s*'([\w.-]{1,80})'/.exec(text)?.[1];
    const isNamed = /\bexecutable\s*\(\s*meson\.project_name\(\)/.test(text);
    const program = found ?? (isNamed ? name : undefined);
    return program !== undefined && /test/i.test(program) ? undefined : program;
  });
  if (program === undefined) return { name, build: 'meson setup build && meson compile -C build' };
  return {
    name,
    build: 'meson setup build --buildtype=release && meson compile -C build',
    start: `./build/${program}`,
  };
}

/** Of this file or of those below, which build into folders of the same names. */
function programIn(
  project: Project,
  file: string,
  read: (path: string) => string | undefined,
): string | undefined {
  const below = project.repository.filesUnder(project.path, [`/${nameOf(file)}`]);
  for (const path of [...new Set([file, ...below])].slice(0, 30)) {
    const program = read(path);
    if (program !== undefined) return project.relative(path).replace(nameOf(path), program);
  }
  return undefined;
}

function make(project: Project, file: string): ProjectFacts {
  const program =
    project.capture(
      file,
      /^\s*(?:TARGET|BIN|BINARY|PROGRAM|EXEC|EXECUTABLE|NAME|PROG|OUT|APP)\s*[:?]?=\s*([\w./-]+)\s*$/,
    ) ??
    project.capture(file, /\s-o\s+([\w./-]+)/) ??
    project.capture(file, /^all\s*:\s*([\w./-]+)/);
  if (program === undefined || program.endsWith('.o')) return { build: 'make', score: 0.3 };
  const start = program.startsWith('/') ? program : `./${program.replace(/^\.\//, '')}`;
  return { build: 'make', start, score: 0.6 };
}

/** A file without any build. */
function lone(project: Project, main: string): ProjectFacts {
  const isC = main.endsWith('.c');
  const names = project
    .withEnding(...endings)
    .filter((path) => path.endsWith('.c') === isC)
    .map(nameOf);
  return { build: `${isC ? 'gcc' : 'g++'} -O2 -o app ${names.join(' ')}`, start: './app', score: 0.4 };
}

export const cobol: Language = {
  language: 'cobol',
  image: debian,
  packages: ['gnucobol4'],
  endings: ['.cbl', '.cob', '.CBL', '.COB'],
  read(project) {
    if (!project.isRoot) return undefined;
    const rank = (file: string) => (/(?:^|\/)(?:index|main)\.\w+$/i.test(file) ? 0 : 1);
    const [file] = [...project.sources(cobol.endings ?? [])].sort((one, other) => rank(one) - rank(other));
    if (file === undefined) return undefined;
    const name = nameOf(file).replace(/\.\w+$/, '');
    // The fixed form begins in column 8; whoever writes further left means the free one.
    const source = project.relative(file);
    const isFree = project.find(source, /^\s{0,6}(?:IDENTIFICATION|ID)\s+DIVISION/i) !== undefined;
    const copybooks = project.hasFolder('copybooks') ? ' -I copybooks' : '';
    const build = `cobc -x ${isFree ? '-free ' : ''}-o ${name}${copybooks} ${source}`;
    return { file, name, build, start: `./${name}`, score: 0.55 };
  },
};

/** What kind of thing a command of a script does: develop, serve files, direct others, or run the app. */
import { frameworkProgram } from '../frameworks/frameworks.ts';
import { type ScriptCommand, verbOf } from './script-commands.ts';

/** Programs that only develop, whatever their arguments. */
const developing = new Set(
  `nodemon ts-node-dev tsnd node-dev webpack-dev-server start-storybook live-server browser-sync start-server-and-test
  supervisor pm2-dev electron-vite electron-builder electron-packager electron electron-forge expo tauri react-native lite-server snowpack budo gulp grunt wrangler`.split(
    /\s+/,
  ),
);
/** Programs of no framework in our list that develop with one of these words, `''` for none. */
const developingWith: Readonly<Record<string, readonly string[]>> = {
  rspack: ['serve', 'dev'],
  'vite-node': ['--watch'],
  tsx: ['watch'],
  ionic: ['serve'],
  poi: ['', 'serve'],
  vercel: ['dev'],
  netlify: ['dev'],
  turbo: ['dev', 'run'],
  wasp: ['start'],
  waspc: ['start'],
};
/** Programs that only hand out files, with the port where nothing else is said. */
const serving: Readonly<Record<string, number>> = {
  serve: 3000,
  'http-server': 8080,
  sirv: 5000,
  ws: 8000,
  superstatic: 3474,
  'local-web-server': 8000,
  'static-server': 9080,
};
export function isDeveloping(command: ScriptCommand): boolean {
  const { program, args } = command;
  if (developing.has(program)) return true;
  if (args.some((arg) => /^--(?:watch|hot|serve|hmr)(?:=|$)|^--watch-path/.test(arg)) && !isServing(command))
    return true;
  if (program === 'parcel' && /\.html$/.test(verbOf(command))) return true;
  const verbs =
    frameworkProgram(program)?.develops ??
    (Object.hasOwn(developingWith, program) ? developingWith[program] : undefined);
  // `vite --port 3000` has no verb, only the value of an option.
  const verb = /^\d+$|^(?:0\.|localhost|\.)/.test(verbOf(command)) ? '' : verbOf(command);
  return verbs?.includes(verb) === true && !(program === 'turbo' && !args.includes('dev'));
}

export function isServing(command: ScriptCommand): boolean {
  return servingPort(command) !== undefined;
}

export function servingPort(command: ScriptCommand): number | undefined {
  const { program } = command;
  const verbs = frameworkProgram(program)?.previews;
  const verb = verbOf(command);
  if (verbs && Object.hasOwn(verbs, verb)) return verbs[verb];
  return Object.hasOwn(serving, program) ? serving[program] : undefined;
}

const directing = new Set([
  // Tools of a workspace: they run scripts of its members.
  ...['turbo', 'nx', 'lerna', 'rush', 'moon', 'wsrun', 'ultra', 'bolt'],
  // Several scripts at once or one after the other; those of this package are put in place of the call before.
  ...['concurrently', 'npm-run-all', 'npm-run-all2', 'run-p', 'run-s'],
  // Whatever they start, it is described elsewhere.
  ...['docker', 'docker-compose', 'make'],
]);
/** Options and words with which a manager runs a script of another package. */
const elsewhere = new Set(
  '--prefix --filter -F --workspace --workspaces -w -ws --cwd -C -r --recursive workspace workspaces'.split(
    ' ',
  ),
);

/** It starts what lies elsewhere in the repository. */
export function isDirecting({ program, args }: ScriptCommand): boolean {
  if (directing.has(program)) return true;
  if (!['npm', 'yarn', 'pnpm', 'bun'].includes(program)) return false;
  return args.some((arg) => elsewhere.has(arg.split('=')[0] ?? ''));
}

const building = new Set(
  'tsc mix webpack rollup esbuild tsup swc babel microbundle unbuild sass tailwindcss postcss grunt gulp brunch ncc pkg copyfiles cpx prisma eslint prettier jest vitest mocha tailwind'.split(
    ' ',
  ),
);

/** It makes or checks something and ends. */
export function isBuilding({ program, args }: ScriptCommand): boolean {
  if (args.some((arg) => arg === '--watch' || arg === '-w')) return false;
  // `node build` starts what lies in that folder.
  if (program === 'node') return false;
  return building.has(program) || args[0] === 'build' || args[0] === 'generate' || args[0] === 'export';
}

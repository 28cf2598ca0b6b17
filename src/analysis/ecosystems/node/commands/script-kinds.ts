/** What kind of thing a command of a script does: develop, serve files, direct others, or run the app. */
import { type ScriptCommand, verbOf } from './script-commands.ts';

/** Programs that only develop, whatever their arguments. */
const developing = new Set(
  `nodemon ts-node-dev tsnd node-dev webpack-dev-server start-storybook live-server browser-sync start-server-and-test
  supervisor pm2-dev electron-vite electron-builder electron-packager electron electron-forge expo tauri react-native lite-server snowpack budo gulp grunt wrangler`.split(
    /\s+/,
  ),
);
/** Programs that develop with one of these words, `''` for none. */
const developingWith: Readonly<Record<string, readonly string[]>> = {
  next: ['dev', ''],
  vite: ['', 'dev', 'serve'],
  nuxt: ['', 'dev'],
  nuxi: ['dev'],
  'react-scripts': ['start'],
  'react-app-rewired': ['start'],
  craco: ['start'],
  ng: ['serve', 's', 'dev'],
  'vue-cli-service': ['serve'],
  webpack: ['serve'],
  rspack: ['serve', 'dev'],
  rsbuild: ['dev', ''],
  parcel: ['', 'serve', 'watch'],
  astro: ['dev', 'start', ''],
  gatsby: ['develop', 'dev'],
  remix: ['dev', 'vite:dev'],
  'react-router': ['dev'],
  eleventy: ['--serve'],
  ember: ['serve', 's', 'server'],
  docusaurus: ['start'],
  storybook: ['dev'],
  vinxi: ['dev'],
  'solid-start': ['dev', ''],
  preact: ['watch'],
  'svelte-kit': ['dev'],
  'vite-node': ['--watch'],
  tsx: ['watch'],
  strapi: ['develop', 'dev'],
  medusa: ['develop'],
  keystone: ['dev'],
  hexo: ['server', 's'],
  vitepress: ['dev', ''],
  vuepress: ['dev'],
  umi: ['dev'],
  quasar: ['dev'],
  stencil: ['build'],
  ionic: ['serve'],
  poi: ['', 'serve'],
  gridsome: ['develop'],
  rw: ['dev'],
  redwood: ['dev'],
  vercel: ['dev'],
  netlify: ['dev'],
  nitro: ['dev'],
  nitropack: ['dev'],
  modern: ['dev'],
  waku: ['dev'],
  slidev: [''],
  wasp: ['start'],
  meteor: ['', 'run'],
  turbo: ['dev', 'run'],
  farm: ['', 'start', 'dev'],
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
const servingWith: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  vite: { preview: 4173 },
  astro: { preview: 4321 },
  gatsby: { serve: 9000 },
  docusaurus: { serve: 3000 },
  vitepress: { preview: 4173, serve: 4173 },
  rsbuild: { preview: 3000 },
  sirv: { public: 5000 },
};

export function isDeveloping(command: ScriptCommand): boolean {
  const { program, args } = command;
  if (developing.has(program)) return true;
  if (args.some((arg) => /^--(?:watch|hot|serve|hmr)(?:=|$)|^--watch-path/.test(arg)) && !isServing(command))
    return true;
  if (program === 'parcel' && /\.html$/.test(verbOf(command))) return true;
  const verbs = Object.hasOwn(developingWith, program) ? developingWith[program] : undefined;
  // `vite --port 3000` has no verb, only the value of an option.
  const verb = /^\d+$|^(?:0\.|localhost|\.)/.test(verbOf(command)) ? '' : verbOf(command);
  return verbs?.includes(verb) === true && !(program === 'turbo' && !args.includes('dev'));
}

export function isServing(command: ScriptCommand): boolean {
  return servingPort(command) !== undefined;
}

export function servingPort(command: ScriptCommand): number | undefined {
  const { program } = command;
  const verbs = Object.hasOwn(servingWith, program) ? servingWith[program] : undefined;
  const verb = verbOf(command);
  if (verbs && Object.hasOwn(verbs, verb)) return verbs[verb];
  return Object.hasOwn(serving, program) ? serving[program] : undefined;
}

/** It starts what lies elsewhere in the repository. */
export function isDirecting({ program, args }: ScriptCommand): boolean {
  if (
    /^(?:turbo|nx|lerna|concurrently|rush|moon|wsrun|ultra|bolt|npm-run-all2?|run-p|run-s|docker|docker-compose|make)$/.test(
      program,
    )
  )
    return true;
  if (!['npm', 'yarn', 'pnpm', 'bun'].includes(program)) return false;
  return args.some((arg) =>
    /^(?:--prefix|--filter|-F|--workspaces?|-w|-ws|--cwd|-C|-r|--recursive|workspaces?)(?:=|$)/.test(arg),
  );
}

const building = new Set(
  'tsc mix webpack rollup esbuild tsup swc babel microbundle unbuild sass tailwindcss postcss grunt gulp brunch ncc pkg copyfiles cpx prisma eslint prettier jest vitest mocha tailwind'.split(
    ' ',
  ),
);

/** It makes or checks something and ends. */
export function isBuilding({ program, args }: ScriptCommand): boolean {
  if (args.some((arg) => arg === '--watch' || arg === '-w')) return false;
  return building.has(program) || args[0] === 'build' || args[0] === 'generate' || args[0] === 'export';
}

/**
 * Frameworks that can render on a server. Most are built on Vite, Next or a bundler, so they are asked first; among
 * them, what is built on another stands before it.
 */
import { config, either, type NodeFramework, nitroStart, server, viteConfigs } from './framework.ts';
import {
  astroRendering,
  markoRendering,
  nextRendering,
  nitroRendering,
  nuxtRendering,
  qwikRendering,
  svelteKitRendering,
  vikeRendering,
  withoutServer,
} from './rendering-rules.ts';

export const renderers: readonly NodeFramework[] = [
  server('redwood', 8910, {
    packages: ['@redwoodjs/core'],
    files: ['redwood.toml'],
    build: 'rw build',
    start: 'rw serve',
    ownsMembers: true,
    portSetting: { key: 'web.port', files: ['redwood.toml'] },
    programs: { rw: { develops: ['dev'] }, redwood: { develops: ['dev'] } },
  }),
  server('blitz', 3000, {
    build: 'blitz build',
    start: 'blitz start',
    programs: { blitz: { develops: ['dev'] } },
  }),
  either('next', 'next build', 'out', nextRendering, {
    start: 'next start',
    configs: config('next.config'),
    outputKeys: ['distDir'],
    exports: ['out'],
    programs: { next: { develops: ['dev', ''], output: ['-o'] } },
    nx: { executors: ['@nx/next', '@nrwl/next'], makes: 'server' },
    buildCache: '.next/cache',
  }),
  either('nuxt', 'nuxt build', '.output/public', nuxtRendering, {
    packages: ['nuxt', 'nuxt3', 'nuxt-edge', 'nuxt-nightly'],
    start: nitroStart,
    configs: config('nuxt.config'),
    exports: ['.output/public', 'dist'],
    programs: { nuxt: { develops: ['', 'dev'] }, nuxi: { develops: ['dev'] } },
    nx: { executors: ['@nx/nuxt'], makes: 'server' },
  }),
  server('analog', 3000, {
    packages: ['@analogjs/platform'],
    build: 'vite build',
    start: 'node dist/analog/server/index.mjs',
  }),
  // Built on React Router, and before that on Remix.
  server('hydrogen', 3000, {
    packages: ['@shopify/hydrogen'],
    build: 'shopify hydrogen build',
    start: 'shopify hydrogen preview',
  }),
  either('react-router', 'react-router build', 'build/client', withoutServer, {
    packages: ['@react-router/dev'],
    files: config('react-router.config'),
    start: 'react-router-serve ./build/server/index.js',
    configs: config('react-router.config'),
    isSinglePage: true,
    programs: { 'react-router': { develops: ['dev'] } },
    runsFrom: { withPublic: true },
  }),
  either('remix', 'remix vite:build', 'build/client', withoutServer, {
    packages: ['@remix-run/dev', '@remix-run/serve'],
    files: config('remix.config'),
    start: 'remix-serve ./build/server/index.js',
    configs: [...viteConfigs, ...config('remix.config')],
    isSinglePage: true,
    programs: { remix: { develops: ['dev', 'vite:dev'] } },
    nx: { executors: ['@nx/remix'], makes: 'server' },
    runsFrom: { withPublic: true },
  }),
  either('sveltekit', 'vite build', 'build', svelteKitRendering, {
    packages: ['@sveltejs/kit'],
    start: 'node build',
    configs: [...config('svelte.config'), ...viteConfigs],
    programs: { 'svelte-kit': { develops: ['dev'] } },
    runsFrom: { withPublic: true },
  }),
  either('astro', 'astro build', 'dist', astroRendering, {
    start: 'node ./dist/server/entry.mjs',
    configs: config('astro.config'),
    outputKeys: ['outDir'],
    port: 4321,
    portSetting: { key: 'server.port' },
    programs: {
      astro: { develops: ['dev', 'start', ''], previews: { preview: 4321 }, output: ['--outDir'] },
    },
    runsFrom: { withPublic: false },
  }),
  either('tanstack-start', 'vite build', '.output/public', nitroRendering, {
    packages: ['@tanstack/react-start', '@tanstack/solid-start', '@tanstack/start'],
    start: nitroStart,
    configs: [...config('app.config'), ...viteConfigs],
  }),
  either('solid-start', 'vinxi build', '.output/public', nitroRendering, {
    packages: ['@solidjs/start', 'solid-start'],
    start: nitroStart,
    configs: [...config('app.config'), ...viteConfigs],
    programs: { vinxi: { develops: ['dev'] }, 'solid-start': { develops: ['dev', ''] } },
  }),
  either('qwik', 'qwik build', 'dist', qwikRendering, {
    packages: ['@builder.io/qwik-city', '@qwik.dev/router'],
    configs: viteConfigs,
  }),
  either('vike', 'vite build', 'dist/client', vikeRendering, {
    packages: ['vike', 'vite-plugin-ssr'],
    configs: viteConfigs,
  }),
  either('marko', 'marko-run build', 'dist/public', markoRendering, {
    packages: ['@marko/run'],
    start: 'node ./dist/index.mjs',
    programs: { 'marko-run': { develops: ['', 'dev'], previews: { preview: 3000 } } },
  }),
  server('waku', 8080, {
    build: 'waku build',
    start: 'waku start',
    programs: { waku: { develops: ['dev'] } },
  }),
  server('modern', 8080, {
    packages: ['@modern-js/app-tools'],
    build: 'modern build',
    start: 'modern serve',
    programs: { modern: { develops: ['dev'] } },
  }),
  server('meteor', 3000, {
    packages: ['meteor-node-stubs'],
    files: ['.meteor/release'],
    programs: { meteor: { develops: ['', 'run'] } },
  }),
  server('sapper', 3000, { build: 'sapper build', start: 'node __sapper__/build' }),
];

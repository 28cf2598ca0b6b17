/** Frameworks for whole sites and apps. Most are built on Vite, Next or a bundler, so they are asked first. */
import {
  config,
  either,
  type NodeFramework,
  nitroStart,
  server,
  singlePage,
  site,
  viteConfigs,
} from './framework.ts';

export const metaFrameworks: readonly NodeFramework[] = [
  server('redwood', 8910, {
    packages: ['@redwoodjs/core'],
    files: ['redwood.toml'],
    build: 'rw build',
    start: 'rw serve',
    ownsMembers: true,
  }),
  server('blitz', 3000, { build: 'blitz build', start: 'blitz start' }),
  either('next', 'next build', 'out', {
    start: 'next start',
    configs: config('next.config'),
    outputKeys: ['distDir'],
  }),
  either('nuxt', 'nuxt build', '.output/public', {
    packages: ['nuxt', 'nuxt3', 'nuxt-edge', 'nuxt-nightly'],
    node: nitroStart,
    configs: config('nuxt.config'),
  }),
  server('analog', 3000, {
    packages: ['@analogjs/platform'],
    build: 'vite build',
    node: 'node dist/analog/server/index.mjs',
  }),
  either('react-router', 'react-router build', 'build/client', {
    packages: ['@react-router/dev'],
    files: config('react-router.config'),
    start: 'react-router-serve ./build/server/index.js',
    configs: config('react-router.config'),
    isSinglePage: true,
  }),
  either('remix', 'remix vite:build', 'build/client', {
    packages: ['@remix-run/dev', '@remix-run/serve'],
    files: config('remix.config'),
    start: 'remix-serve ./build/server/index.js',
    configs: [...viteConfigs, ...config('remix.config')],
    isSinglePage: true,
  }),
  either('sveltekit', 'vite build', 'build', {
    packages: ['@sveltejs/kit'],
    node: 'node build',
    configs: config('svelte.config'),
  }),
  either('astro', 'astro build', 'dist', {
    node: 'node ./dist/server/entry.mjs',
    configs: config('astro.config'),
    outputKeys: ['outDir'],
    port: 4321,
  }),
  either('tanstack-start', 'vite build', '.output/public', {
    packages: ['@tanstack/react-start', '@tanstack/solid-start', '@tanstack/start'],
    node: nitroStart,
    configs: [...config('app.config'), ...viteConfigs],
  }),
  either('solid-start', 'vinxi build', '.output/public', {
    packages: ['@solidjs/start', 'solid-start'],
    node: nitroStart,
    configs: [...config('app.config'), ...viteConfigs],
  }),
  either('qwik', 'qwik build', 'dist', {
    packages: ['@builder.io/qwik-city', '@qwik.dev/router'],
    configs: viteConfigs,
  }),
  either('vike', 'vite build', 'dist/client', {
    packages: ['vike', 'vite-plugin-ssr'],
    configs: viteConfigs,
  }),
  server('waku', 8080, { build: 'waku build', start: 'waku start' }),
  server('hydrogen', 3000, { packages: ['@shopify/hydrogen'], build: 'shopify hydrogen build' }),
  server('modern', 8080, {
    packages: ['@modern-js/app-tools'],
    build: 'modern build',
    start: 'modern serve',
  }),
  server('meteor', 3000, { packages: ['meteor-node-stubs'], files: ['.meteor/release'] }),
  server('sapper', 3000, { build: 'sapper build', node: 'node __sapper__/build' }),
  site('gatsby', 'gatsby build', 'public'),
  site('docusaurus', 'docusaurus build', 'build', { packages: ['@docusaurus/core', 'docusaurus'] }),
  site('vitepress', 'vitepress build', '.vitepress/dist', {
    configs: config('.vitepress/config'),
    outputKeys: ['outDir'],
  }),
  site('vuepress', 'vuepress build', '.vuepress/dist', {
    packages: ['vuepress', '@vuepress/cli'],
    configs: config('.vuepress/config'),
    outputKeys: ['dest'],
  }),
  site('rspress', 'rspress build', 'doc_build', { packages: ['rspress', '@rspress/core'] }),
  site('vocs', 'vocs build', 'docs/dist'),
  site('eleventy', '@11ty/eleventy', '_site', {
    packages: ['@11ty/eleventy'],
    configs: ['.eleventy.js', ...config('eleventy.config')],
    outputKeys: ['dir.output'],
  }),
  site('hexo', 'hexo generate', 'public'),
  site('gridsome', 'gridsome build', 'dist', {
    configs: config('gridsome.config'),
    outputKeys: ['outputDir', 'outDir'],
  }),
  singlePage('slidev', 'slidev build', 'dist', { packages: ['@slidev/cli'] }),
  { name: 'metalsmith', packages: ['metalsmith'], kind: 'static', output: 'build' },
  singlePage('quasar', 'quasar build', 'dist/spa', {
    packages: ['@quasar/app-vite', '@quasar/app-webpack', '@quasar/app'],
  }),
  singlePage('umi', 'umi build', 'dist', { packages: ['umi', '@umijs/max'] }),
  singlePage('sanity', 'sanity build', 'dist', { files: config('sanity.config') }),
];

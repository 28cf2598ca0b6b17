/** What is left when nothing renders on a server: pages that a bundler makes. */
import { angularRendering } from './angular.ts';
import { bundler, config, either, type NodeFramework, singlePage, site, viteConfigs } from './framework.ts';

export const bundlers: readonly NodeFramework[] = [
  either('angular', 'ng build', 'dist', angularRendering, {
    packages: ['@angular/cli', '@angular/core', '@angular-devkit/build-angular', '@angular/build'],
    isSinglePage: true,
    port: 4000,
    programs: { ng: { develops: ['serve', 's', 'dev'], output: ['--output-path'] } },
    nx: {
      executors: ['@nx/angular', '@angular-devkit/build-angular', '@angular/build', '@nrwl/angular'],
      makes: 'files',
    },
  }),
  bundler('vue', 'vue-cli-service build', 'dist', {
    packages: ['@vue/cli-service'],
    configs: config('vue.config'),
    outputKeys: ['outputDir'],
    programs: { 'vue-cli-service': { develops: ['serve'], output: ['--dest'] } },
  }),
  bundler('create-react-app', 'react-scripts build', 'build', {
    packages: ['react-scripts'],
    programs: {
      'react-scripts': { develops: ['start'] },
      'react-app-rewired': { develops: ['start'] },
      craco: { develops: ['start'] },
    },
  }),
  singlePage('ember', 'ember build --environment=production', 'dist', {
    packages: ['ember-cli', 'ember-source'],
    programs: { ember: { develops: ['serve', 's', 'server'], output: ['--output-path', '-o'] } },
  }),
  singlePage('preact', 'preact build', 'build', {
    packages: ['preact-cli'],
    programs: { preact: { develops: ['watch'] } },
  }),
  singlePage('stencil', 'stencil build', 'www', {
    packages: ['@stencil/core'],
    programs: { stencil: { develops: ['build'] } },
  }),
  singlePage('polymer', 'polymer build', 'build', { packages: ['polymer-cli'] }),
  // The template for Rollup; with Vite it is one of many plugins.
  bundler('svelte', 'rollup -c', 'public', { packages: ['rollup-plugin-svelte'] }),
  // Without its router: `create-vite` has such a template.
  bundler('qwik', 'vite build', 'dist', {
    packages: ['@builder.io/qwik', '@qwik.dev/core'],
    configs: viteConfigs,
    builtFrom: ['index.html', ...viteConfigs],
    outputKeys: ['build.outDir'],
  }),
  bundler('vite', 'vite build', 'dist', {
    packages: ['vite', 'rolldown-vite', 'vite-plus'],
    files: viteConfigs,
    configs: viteConfigs,
    builtFrom: ['index.html', ...viteConfigs],
    outputKeys: ['build.outDir'],
    programs: {
      vite: { develops: ['', 'dev', 'serve'], previews: { preview: 4173 }, output: ['--outDir'] },
    },
    nx: { executors: ['@nx/vite', '@nrwl/vite'], makes: 'files' },
  }),
  bundler('rsbuild', 'rsbuild build', 'dist', {
    packages: ['@rsbuild/core'],
    configs: config('rsbuild.config'),
    outputKeys: ['output.distPath.root', 'output.distPath'],
    programs: { rsbuild: { develops: ['dev', ''], previews: { preview: 3000 } } },
  }),
  bundler('farm', 'farm build', 'dist', {
    packages: ['@farmfe/core'],
    programs: { farm: { develops: ['', 'start', 'dev'] } },
  }),
  bundler('parcel', 'parcel build', 'dist', {
    packages: ['parcel', 'parcel-bundler'],
    programs: {
      parcel: { develops: ['', 'serve', 'watch'], output: ['--dist-dir', '-d', '--out-dir'] },
    },
  }),
  bundler('snowpack', 'snowpack build', 'build'),
  bundler('brunch', 'brunch build --production', 'public'),
  singlePage('expo', 'expo export --platform web', 'dist', {
    programs: { expo: { output: ['--output-dir'] } },
  }),
  bundler('webpack', 'webpack --mode production', 'dist', {
    packages: ['html-webpack-plugin', 'webpack-dev-server'],
    configs: config('webpack.config'),
    outputKeys: ['output.path'],
    programs: { webpack: { develops: ['serve'], output: ['--output-path', '-o'] } },
  }),
  site('storybook', 'storybook build', 'storybook-static', {
    isShowcase: true,
    programs: {
      storybook: { develops: ['dev'], output: ['-o', '--output-dir'] },
      'build-storybook': { output: ['-o', '--output-dir'] },
    },
  }),
];

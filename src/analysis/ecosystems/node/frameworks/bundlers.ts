/** What is left when nothing renders on a server: pages that a bundler makes. */
import { bundler, config, either, type NodeFramework, singlePage, site, viteConfigs } from './framework.ts';

export const bundlers: readonly NodeFramework[] = [
  either('angular', 'ng build', 'dist', {
    packages: ['@angular/cli', '@angular/core', '@angular-devkit/build-angular', '@angular/build'],
    isSinglePage: true,
    port: 4000,
  }),
  bundler('vue', 'vue-cli-service build', 'dist', {
    packages: ['@vue/cli-service'],
    configs: config('vue.config'),
    outputKeys: ['outputDir'],
  }),
  bundler('create-react-app', 'react-scripts build', 'build', { packages: ['react-scripts'] }),
  singlePage('ember', 'ember build --environment=production', 'dist', {
    packages: ['ember-cli', 'ember-source'],
  }),
  singlePage('preact', 'preact build', 'build', { packages: ['preact-cli'] }),
  singlePage('stencil', 'stencil build', 'www', { packages: ['@stencil/core'] }),
  singlePage('polymer', 'polymer build', 'build', { packages: ['polymer-cli'] }),
  bundler('svelte', 'rollup -c', 'public', { packages: ['sirv-cli'] }),
  bundler('vite', 'vite build', 'dist', {
    packages: ['vite', 'rolldown-vite', 'vite-plus'],
    files: viteConfigs,
    configs: viteConfigs,
    outputKeys: ['build.outDir'],
  }),
  bundler('rsbuild', 'rsbuild build', 'dist', {
    packages: ['@rsbuild/core'],
    configs: config('rsbuild.config'),
    outputKeys: ['output.distPath.root', 'output.distPath'],
  }),
  bundler('farm', 'farm build', 'dist', { packages: ['@farmfe/core'] }),
  bundler('parcel', 'parcel build', 'dist', { packages: ['parcel', 'parcel-bundler'] }),
  bundler('snowpack', 'snowpack build', 'build'),
  bundler('brunch', 'brunch build --production', 'public'),
  singlePage('expo', 'expo export --platform web', 'dist'),
  bundler('webpack', 'webpack --mode production', 'dist', {
    packages: ['html-webpack-plugin', 'webpack-dev-server'],
    configs: config('webpack.config'),
    outputKeys: ['output.path'],
  }),
  site('storybook', 'storybook build', 'storybook-static'),
];

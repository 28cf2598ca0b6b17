/** Generators of sites: documentation, blogs, slides. Many are built on a bundler, so they are asked before those. */
import { config, type NodeFramework, singlePage, site } from './framework.ts';

export const sites: readonly NodeFramework[] = [
  site('gatsby', 'gatsby build', 'public', {
    programs: { gatsby: { develops: ['develop', 'dev'], previews: { serve: 9000 } } },
  }),
  site('docusaurus', 'docusaurus build', 'build', {
    packages: ['@docusaurus/core', 'docusaurus'],
    programs: { docusaurus: { develops: ['start'], previews: { serve: 3000 }, output: ['--out-dir'] } },
  }),
  site('vitepress', 'vitepress build', '.vitepress/dist', {
    configs: config('.vitepress/config'),
    outputKeys: ['outDir'],
    isOutputBelowPages: true,
    programs: {
      vitepress: {
        develops: ['dev', ''],
        previews: { preview: 4173, serve: 4173 },
        output: ['--outDir'],
      },
    },
  }),
  site('vuepress', 'vuepress build', '.vuepress/dist', {
    packages: ['vuepress', '@vuepress/cli'],
    configs: config('.vuepress/config'),
    outputKeys: ['dest'],
    isOutputBelowPages: true,
    programs: { vuepress: { develops: ['dev'] } },
  }),
  site('rspress', 'rspress build', 'doc_build', {
    packages: ['rspress', '@rspress/core'],
    programs: { rspress: { develops: ['', 'dev'], previews: { preview: 4173 } } },
  }),
  site('vocs', 'vocs build', 'docs/dist', {
    programs: { vocs: { develops: ['dev'], previews: { preview: 4173 } } },
  }),
  site('eleventy', '@11ty/eleventy', '_site', {
    packages: ['@11ty/eleventy'],
    configs: ['.eleventy.js', ...config('eleventy.config')],
    outputKeys: ['dir.output'],
    programs: {
      eleventy: { develops: ['--serve'], output: ['--output'] },
      '@11ty/eleventy': { output: ['--output'] },
    },
  }),
  site('evidence', 'evidence build', 'build', {
    packages: ['@evidence-dev/evidence'],
    programs: { evidence: { develops: ['dev'], previews: { preview: 3000 } } },
  }),
  site('hexo', 'hexo generate', 'public', { programs: { hexo: { develops: ['server', 's'] } } }),
  site('gridsome', 'gridsome build', 'dist', {
    configs: config('gridsome.config'),
    outputKeys: ['outputDir', 'outDir'],
    programs: { gridsome: { develops: ['develop'] } },
  }),
  singlePage('slidev', 'slidev build', 'dist', {
    packages: ['@slidev/cli'],
    programs: { slidev: { develops: [''] } },
  }),
  { name: 'metalsmith', packages: ['metalsmith'], kind: 'static', output: 'build' },
  singlePage('quasar', 'quasar build', 'dist/spa', {
    packages: ['@quasar/app-vite', '@quasar/app-webpack', '@quasar/app'],
    programs: { quasar: { develops: ['dev'] } },
  }),
  singlePage('umi', 'umi build', 'dist', {
    packages: ['umi', '@umijs/max'],
    programs: { umi: { develops: ['dev'] } },
  }),
  // A client of Sanity has its library, and only a studio its configuration.
  singlePage('sanity', 'sanity build', 'dist', {
    packages: [],
    files: config('sanity.config'),
    programs: { sanity: { develops: ['dev', 'start'] } },
  }),
  site('observable', 'observable build', 'dist', {
    packages: ['@observablehq/framework'],
    configs: config('observablehq.config'),
    outputKeys: ['output'],
    programs: { observable: { develops: ['preview'] } },
  }),
];

/** Generators written in Python: MkDocs, Pelican, Nikola and Sphinx. */
import type { Repository } from '../../repository.ts';
import { findIn, findInAny } from '../code.ts';
import { pythonDependencies, requirementsFile } from '../python/python-dependencies.ts';
import { configOf, hasCode, type Site, siteValue } from './site.ts';

export function mkdocs(repository: Repository, directory: string): Site | undefined {
  const file = configOf(repository, directory, ['mkdocs.yml', 'mkdocs.yaml']);
  if (file === undefined) return undefined;
  const isMaterial = findIn(repository, file, /^\s*(?:name|theme):\s*["']?material\b/) !== undefined;
  const isListed = requirementsFile(repository, directory) !== undefined;
  const score =
    pythonDependencies(repository, directory).has('mkdocs') || !hasCode(repository, directory) ? 0.85 : 0.45;
  return {
    name: 'mkdocs',
    language: 'python',
    file,
    build: 'mkdocs build',
    output: siteValue(repository, file, 'site_dir') ?? 'site',
    score,
    ...(isListed ? {} : { needs: isMaterial ? 'mkdocs-material' : 'mkdocs' }),
  };
}

export function pythonSite(repository: Repository, directory: string): Site | undefined {
  const pelican = repository.firstOf(directory, ['pelicanconf.py']);
  if (pelican) {
    const settings = repository.firstOf(directory, ['publishconf.py']) ? 'publishconf.py' : 'pelicanconf.py';
    return {
      name: 'pelican',
      language: 'python',
      file: pelican,
      build: `pelican content -o output -s ${settings}`,
      output: 'output',
      needs: "'pelican[markdown]'",
    };
  }
  const places = ['conf.py', 'docs/conf.py', 'docs/source/conf.py', 'source/conf.py', 'doc/conf.py'];
  const config = configOf(repository, directory, places);
  // The folder above speaks for its documentation.
  if (config === undefined || /(?:^|\/)(?:docs?|source)$/.test(directory)) return undefined;
  if (findIn(repository, config, /^BLOG_TITLE\s*=/)) {
    return {
      name: 'nikola',
      language: 'python',
      file: config,
      build: 'nikola build',
      output: 'output',
      needs: "'nikola[extras]'",
    };
  }
  if (!findInAny(repository, [config], /^(?:html_theme|extensions|project)\s*=/)) return undefined;
  const folder = config.slice(directory === '' ? 0 : directory.length + 1).replace(/\/?conf\.py$/, '') || '.';
  const base = folder.replace(/\/?source$/, '');
  const output = base === '.' || base === '' ? '_build/html' : `${base}/_build/html`;
  const needs = requirementsFile(repository, directory) === undefined ? { needs: 'sphinx' } : {};
  return {
    name: 'sphinx',
    language: 'python',
    file: config,
    build: `sphinx-build -b html ${folder} ${output}`,
    output,
    score: hasCode(repository, directory) ? 0.4 : 0.6,
    ...needs,
  };
}

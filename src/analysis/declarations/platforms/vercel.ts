/** vercel.json: commands, output folder, framework, and the rewrite that makes a single page of a site. */
import { asObjects, asText, valueAt } from '../../readers/shape.ts';
import type { Parsed } from '../../repository.ts';
import type { PlatformReader } from '../declaration-file.ts';
import { servedOutput } from './server-rendering.ts';

/** Where Vercel's name of a framework is not ours. */
const frameworks: Readonly<Record<string, string>> = {
  nextjs: 'next',
  nuxtjs: 'nuxt',
  'sveltekit-1': 'sveltekit',
  'docusaurus-2': 'docusaurus',
  'solidstart-1': 'solid-start',
  solidstart: 'solid-start',
  redwoodjs: 'redwood',
  nestjs: 'nest',
};

export const vercel: PlatformReader = {
  names: ['vercel.json', 'now.json'],
  read(file) {
    const { config, path } = file;
    const name = asText(config.framework);
    const legacy = asObjects(config.builds).find(({ use }) => use === '@vercel/static-build');
    file.declare({
      install: config.installCommand,
      build: config.buildCommand,
      framework: name === undefined ? undefined : (frameworks[name] ?? name),
      output: servedOutput(file, config.outputDirectory ?? valueAt(legacy, 'config', 'distDir')),
      isSinglePage: hasFallback(config) ? true : undefined,
    });
    file.variables(config.env);
    file.variables(valueAt(config, 'build', 'env'), { build: true });
    if (asObjects(config.crons).length > 0) {
      const message = `${path} has paths called on a schedule; nothing here calls them yet`;
      file.warn('cron_by_request', message);
    }
  },
};

function hasFallback(config: Parsed): boolean {
  const rules = [...asObjects(config.rewrites), ...asObjects(config.routes)];
  return rules.some((rule) => {
    const [from, to] = [asText(rule.source ?? rule.src) ?? '', asText(rule.destination ?? rule.dest) ?? ''];
    return isEverything(from) && /^\/?(?:index\.html)?$/.test(to);
  });
}

/** `/(.*)`, `/:path*`, and those that leave out an `api` folder. */
function isEverything(pattern: string): boolean {
  return /^\/?(?:\(\.\*\)|\.\*|:\w+\*|\*{1,2}|\(\(\?!.{1,120}\)\.\*\)|\(\.\+\))\$?$/.test(
    pattern.replace(/^\^/, ''),
  );
}

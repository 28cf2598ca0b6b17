/** vercel.json: commands, output folder, framework, and the rewrite that makes a single page of a site. */
import type { DeclarationReader } from '../detector.ts';
import { asObject, asObjects, asText } from '../readers/shape.ts';
import type { Parsed } from '../repository.ts';
import { declare, folderIn } from './declare.ts';
import { filesNamed, folderOfFile } from './places.ts';
import { variablesIn } from './platform-variables.ts';
import { isServedAsFiles } from './server-rendering.ts';
import { nothingHeard, strengths } from './strengths.ts';

/** Where Vercel's name of a framework is not ours. */
const frameworks: Readonly<Record<string, string>> = {
  nextjs: 'next',
  nuxtjs: 'nuxt',
  'sveltekit-1': 'sveltekit',
  'docusaurus-2': 'docusaurus',
  'solidstart-1': 'solid-start',
  solidstart: 'solid-start',
  redwoodjs: 'redwood',
  'tanstack-start': 'tanstack-start',
  nestjs: 'nest',
};

export const vercelReader: DeclarationReader = {
  name: 'vercel',
  read(repository) {
    const heard = nothingHeard();
    for (const file of filesNamed(repository, ['vercel.json', 'now.json'])) {
      const config = repository.json(file);
      if (!config) continue;
      const directory = folderOfFile(file);
      const name = asText(config.framework);
      const legacy = asObjects(config.builds).find(({ use }) => use === '@vercel/static-build');
      const output = folderIn(config.outputDirectory ?? asObject(legacy?.config).distDir);
      const isFiles = output !== undefined && isServedAsFiles(repository, directory, output);
      heard.declarations.push(
        declare(repository, {
          file,
          directory,
          strength: strengths.platform,
          install: config.installCommand,
          build: config.buildCommand,
          framework: name === undefined ? undefined : (frameworks[name] ?? name),
          ...(isFiles ? { output } : {}),
          isSinglePage: hasFallback(config) ? true : undefined,
        }),
      );
      heard.variables.push(
        ...variablesIn(config.env, { file, directory }),
        ...variablesIn(asObject(config.build).env, { file, directory, build: true }),
      );
      if (asObjects(config.crons).length > 0)
        repository.warn(
          'cron_by_request',
          `${file} has paths called on a schedule; nothing here calls them yet`,
          file,
        );
    }
    return heard;
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

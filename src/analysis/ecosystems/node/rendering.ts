/** Whether a framework that can do either gives files for a browser or a server, and where it puts them. */

import { certain, conventional, type Evidenced, evidenced, guessed } from '../../evidence.ts';
import { isParsed, join } from '../../repository.ts';
import type { StaticOutput } from '../../result.ts';
import { angularRendering } from './angular.ts';
import { argumentOfCall, configFile, folderOf, moduleOfCall, valueAt } from './config-value.ts';
import type { Framework } from './frameworks.ts';
import { type PackageContext, scriptCommands } from './package-context.ts';
import { dependsOn } from './package-json.ts';
import { staticFolder } from './static-folder.ts';

export type Rendering =
  | { readonly kind: 'static'; readonly output: Evidenced<StaticOutput> }
  | { readonly kind: 'server'; readonly start?: Evidenced<string> };

const server: Rendering = { kind: 'server' };

export function renderingOf(context: PackageContext, framework: Framework): Rendering {
  if (framework.kind === 'server') return server;
  const file = configFile(context.repository, context.directory.path, framework.configs ?? []);
  const config = file === undefined ? undefined : context.repository.source(file)?.config;
  const chosen = framework.kind === 'static' ? true : decide(context, framework, config, file);
  if (typeof chosen === 'object') return chosen;
  if (!chosen) return server;
  return { kind: 'static', output: staticFolder(context, framework, config, file) };
}

function decide(
  context: PackageContext,
  { name }: Framework,
  config: unknown,
  file: string | undefined,
): boolean | Rendering {
  const at = file ?? context.manifest.file;
  switch (name) {
    case 'next':
      return valueAt(config, 'output') === 'export' || builds(context, 'next', 'export');
    case 'nuxt':
      return nuxt(context, config, at);
    case 'sveltekit':
      return svelteKit(context, config, at);
    case 'astro':
      return astro(context, config, at);
    case 'react-router':
    case 'remix':
      return valueAt(config, 'ssr') === false || pluginOption(config, 'ssr') === false;
    case 'solid-start':
    case 'tanstack-start':
      return (
        isStaticPreset(valueAt(config, 'server.preset')) ||
        valueAt(config, 'ssr') === false ||
        pluginOption(config, 'spa') !== undefined
      );
    case 'qwik':
      return context.directory.folders.has('adapters')
        ? context.repository.directory(join(context.directory.path, 'adapters/static')) !== undefined
        : false;
    case 'vike':
      return !context.manifest.scripts.has('start') && !context.manifest.scripts.has('server');
    case 'angular':
      return angularRendering(context);
    default:
      return false;
  }
}

function builds(context: PackageContext, program: string, word: string): boolean {
  return ['build', 'export'].some((script) =>
    scriptCommands(context, script).some((each) => each.program === program && each.args.includes(word)),
  );
}

function isStaticPreset(value: unknown): boolean {
  return typeof value === 'string' && /static|github-?pages|netlify-static|vercel-static/.test(value);
}

/** An option that a plugin gets: `remix({ ssr: false })`. */
function pluginOption(config: unknown, key: string): unknown {
  const plugins = valueAt(config, 'plugins');
  for (const plugin of Array.isArray(plugins) ? plugins : []) {
    const value = valueAt(argumentOfCall(plugin), key);
    if (value !== undefined) return value;
  }
  return undefined;
}

function nuxt(context: PackageContext, config: unknown, file: string): Rendering {
  const isOld = /^[\^~>=v\s]*[12](?:\.|$)/.test(
    context.manifest.dependencies.get('nuxt') ?? context.manifest.devDependencies.get('nuxt') ?? '',
  );
  const generates = ['nuxt', 'nuxi'].some((program) => builds(context, program, 'generate'));
  const isSinglePage = valueAt(config, 'ssr') === false;
  const isStatic =
    generates ||
    isSinglePage ||
    isStaticPreset(valueAt(config, 'nitro.preset')) ||
    (isOld && valueAt(config, 'target') === 'static');
  if (isStatic)
    return {
      kind: 'static',
      output: evidenced(
        { directory: isOld ? 'dist' : '.output/public', isSinglePage },
        conventional,
        file,
        'Nuxt makes files',
      ),
    };
  return isOld ? { kind: 'server', start: evidenced('nuxt start', conventional, file, 'Nuxt 2') } : server;
}

function svelteKit(context: PackageContext, config: unknown, file: string): Rendering {
  const adapter = valueAt(config, 'kit.adapter');
  const module = moduleOfCall(adapter);
  const uses = (name: string) =>
    module === name || (module === undefined && dependsOn(context.manifest, name));
  const options = argumentOfCall(adapter);
  if (uses('@sveltejs/adapter-static')) {
    const directory = folderOf(valueAt(options, 'pages')) ?? 'build';
    const isSinglePage =
      typeof valueAt(options, 'fallback') === 'string' && valueAt(options, 'fallback') !== '404.html';
    return {
      kind: 'static',
      output: evidenced({ directory, isSinglePage }, certain, file, 'adapter-static'),
    };
  }
  const out = folderOf(valueAt(options, 'out')) ?? 'build';
  if (uses('@sveltejs/adapter-node') || uses('svelte-adapter-bun'))
    return { kind: 'server', start: evidenced(`node ${out}`, certain, file, module ?? 'adapter-node') };
  if (module !== undefined)
    context.repository.warn(
      'adapter_for_elsewhere',
      `${file} uses ${module}; a server of your own needs @sveltejs/adapter-node.`,
      file,
    );
  return { kind: 'server', start: evidenced(`node ${out}`, guessed, file, 'as adapter-node builds it') };
}

function astro(context: PackageContext, config: unknown, file: string): Rendering | boolean {
  const output = valueAt(config, 'output');
  const adapter = valueAt(config, 'adapter');
  const module =
    moduleOfCall(adapter) ?? (dependsOn(context.manifest, '@astrojs/node') ? '@astrojs/node' : undefined);
  const rendersOnDemand =
    output === 'server' || output === 'hybrid' || (adapter !== undefined && module === '@astrojs/node');
  if (!rendersOnDemand) return true;
  const folder = folderOf(valueAt(config, 'outDir')) ?? 'dist';
  const isNode = module === undefined || module === '@astrojs/node';
  if (!isNode)
    context.repository.warn(
      'adapter_for_elsewhere',
      `${file} uses ${module}; a server of your own needs @astrojs/node.`,
      file,
    );
  const mode = isParsed(argumentOfCall(adapter)) ? valueAt(argumentOfCall(adapter), 'mode') : undefined;
  return {
    kind: 'server',
    start: evidenced(
      `node ./${folder}/server/entry.mjs`,
      isNode && mode !== 'middleware' ? conventional : guessed,
      file,
      module ?? 'output: server',
    ),
  };
}

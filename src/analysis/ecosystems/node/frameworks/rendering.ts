/** Whether a framework that can do either gives files for a browser or a server, and where it puts them. */

import { certain, conventional, evidenced, guessed } from '../../../evidence.ts';
import { isParsed } from '../../../repository.ts';
import type { NodePackage } from '../node-package.ts';
import { angularRendering } from './angular.ts';
import { argumentOfCall, configuredFolder, moduleOfCall, settingAt } from './config-value.ts';
import type { NodeFramework, Rendering } from './framework.ts';
import { staticFolder } from './static-folder.ts';

const server: Rendering = { kind: 'server' };

export function renderingOf(package_: NodePackage, framework: NodeFramework): Rendering {
  if (framework.kind === 'server') return server;
  const file = package_.first(...(framework.configs ?? []));
  const config = file === undefined ? undefined : package_.repository.source(file)?.config;
  const chosen = framework.kind === 'static' ? true : decide(package_, framework, config, file);
  if (typeof chosen === 'object') return chosen;
  if (!chosen) return server;
  return { kind: 'static', output: staticFolder(package_, framework, config, file) };
}

function decide(
  package_: NodePackage,
  { name }: NodeFramework,
  config: unknown,
  file: string | undefined,
): boolean | Rendering {
  const at = file ?? package_.manifest.file;
  switch (name) {
    case 'next':
      return settingAt(config, 'output') === 'export' || builds(package_, 'next', 'export');
    case 'nuxt':
      return nuxt(package_, config, at);
    case 'sveltekit':
      return svelteKit(package_, config, at);
    case 'astro':
      return astro(package_, config, at);
    case 'react-router':
    case 'remix':
      return settingAt(config, 'ssr') === false || pluginOption(config, 'ssr') === false;
    case 'solid-start':
    case 'tanstack-start':
      return (
        isStaticPreset(settingAt(config, 'server.preset')) ||
        settingAt(config, 'ssr') === false ||
        pluginOption(config, 'spa') !== undefined
      );
    case 'qwik':
      return package_.hasFolder('adapters/static');
    case 'vike':
      return !package_.manifest.scripts.has('start') && !package_.manifest.scripts.has('server');
    case 'angular':
      return angularRendering(package_);
    default:
      return false;
  }
}

function builds(package_: NodePackage, program: string, word: string): boolean {
  return ['build', 'export'].some((script) =>
    package_.commands(script).some((each) => each.program === program && each.args.includes(word)),
  );
}

function isStaticPreset(value: unknown): boolean {
  return typeof value === 'string' && /static|github-?pages|netlify-static|vercel-static/.test(value);
}

/** An option that a plugin gets: `remix({ ssr: false })`. */
function pluginOption(config: unknown, key: string): unknown {
  const plugins = settingAt(config, 'plugins');
  for (const plugin of Array.isArray(plugins) ? plugins : []) {
    const value = settingAt(argumentOfCall(plugin), key);
    if (value !== undefined) return value;
  }
  return undefined;
}

function nuxt(package_: NodePackage, config: unknown, file: string): Rendering {
  const isOld = /^[\^~>=v\s]*[12](?:\.|$)/.test(
    package_.manifest.dependencies.get('nuxt') ?? package_.manifest.devDependencies.get('nuxt') ?? '',
  );
  const generates = ['nuxt', 'nuxi'].some((program) => builds(package_, program, 'generate'));
  const isSinglePage = settingAt(config, 'ssr') === false;
  const isStatic =
    generates ||
    isSinglePage ||
    isStaticPreset(settingAt(config, 'nitro.preset')) ||
    (isOld && settingAt(config, 'target') === 'static');
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

function svelteKit(package_: NodePackage, config: unknown, file: string): Rendering {
  const adapter = settingAt(config, 'kit.adapter');
  const module = moduleOfCall(adapter);
  const uses = (name: string) => module === name || (module === undefined && package_.dependsOn(name));
  const options = argumentOfCall(adapter);
  if (uses('@sveltejs/adapter-static')) {
    const directory = configuredFolder(settingAt(options, 'pages')) ?? 'build';
    const isSinglePage =
      typeof settingAt(options, 'fallback') === 'string' && settingAt(options, 'fallback') !== '404.html';
    return {
      kind: 'static',
      output: evidenced({ directory, isSinglePage }, certain, file, 'adapter-static'),
    };
  }
  const out = configuredFolder(settingAt(options, 'out')) ?? 'build';
  if (uses('@sveltejs/adapter-node') || uses('svelte-adapter-bun'))
    return { kind: 'server', start: evidenced(`node ${out}`, certain, file, module ?? 'adapter-node') };
  if (module !== undefined)
    package_.repository.warn(
      'adapter_for_elsewhere',
      `${file} uses ${module}; a server of your own needs @sveltejs/adapter-node.`,
      file,
    );
  return { kind: 'server', start: evidenced(`node ${out}`, guessed, file, 'as adapter-node builds it') };
}

function astro(package_: NodePackage, config: unknown, file: string): Rendering | boolean {
  const output = settingAt(config, 'output');
  const adapter = settingAt(config, 'adapter');
  const module = moduleOfCall(adapter) ?? (package_.dependsOn('@astrojs/node') ? '@astrojs/node' : undefined);
  const rendersOnDemand =
    output === 'server' || output === 'hybrid' || (adapter !== undefined && module === '@astrojs/node');
  if (!rendersOnDemand) return true;
  const folder = configuredFolder(settingAt(config, 'outDir')) ?? 'dist';
  const isNode = module === undefined || module === '@astrojs/node';
  if (!isNode)
    package_.repository.warn(
      'adapter_for_elsewhere',
      `${file} uses ${module}; a server of your own needs @astrojs/node.`,
      file,
    );
  const mode = isParsed(argumentOfCall(adapter)) ? settingAt(argumentOfCall(adapter), 'mode') : undefined;
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

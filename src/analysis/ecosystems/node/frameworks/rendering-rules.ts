/** Whether a framework that can do either gives files for a browser or a server: each one's own way to say it. */
import { certain, conventional, evidenced, guessed } from '../../../evidence.ts';
import type { Warning } from '../../../result.ts';
import type { NodePackage } from '../node-package.ts';
import { argumentOfCall, configuredFolder, moduleOfCall, pluginOption, settingAt } from './config-value.ts';
import type { RenderingRule } from './framework.ts';

const filesIf = (isStatic: boolean) => (isStatic ? 'static' : 'server');

export const nextRendering: RenderingRule = (package_, config) =>
  filesIf(settingAt(config, 'output') === 'export' || builds(package_, 'next', 'export'));

/** React Router and Remix: `ssr: false`, of its own configuration or of its plugin for Vite. */
export const withoutServer: RenderingRule = (_package, config) =>
  filesIf(settingAt(config, 'ssr') === false || pluginOption(config, 'ssr') === false);

/** SolidStart and TanStack Start. */
export const nitroRendering: RenderingRule = (_package, config) =>
  filesIf(
    isStaticPreset(settingAt(config, 'server.preset')) ||
      settingAt(config, 'ssr') === false ||
      isOn(pluginOption(config, 'spa')),
  );

/** An adapter is a folder that `qwik add` makes; without one nothing is built that could be run. */
export const qwikRendering: RenderingRule = (package_, _config, file) => {
  if (package_.hasFolder('adapters/static')) return 'static';
  if (package_.hasFolder('adapters')) return 'server';
  const message = `${file} builds no server yet: \`qwik add\` makes one, for Node or for files.`;
  return { kind: 'server', warnings: [{ code: 'adapter_missing', message, file }] };
};

/** Its adapter is found by its name among the dependencies. */
export const markoRendering: RenderingRule = (package_) =>
  filesIf(package_.dependsOn('@marko/run-adapter-static'));

/** Vike has no server of its own; whoever renders on one has written it, and a script that starts it. */
export const vikeRendering: RenderingRule = ({ manifest }) =>
  filesIf(!manifest.scripts.has('start') && !manifest.scripts.has('server'));

export const nuxtRendering: RenderingRule = (package_, config, file) => {
  const { dependencies, devDependencies } = package_.manifest;
  const isOld = /^[\^~>=v\s]*[12](?:\.|$)/.test(
    dependencies.get('nuxt') ?? devDependencies.get('nuxt') ?? '',
  );
  const generates = ['nuxt', 'nuxi'].some((program) => builds(package_, program, 'generate'));
  const isSinglePage = settingAt(config, 'ssr') === false;
  const isStatic =
    generates ||
    isSinglePage ||
    isStaticPreset(settingAt(config, 'nitro.preset')) ||
    (isOld && settingAt(config, 'target') === 'static');
  if (!isStatic)
    return isOld
      ? { kind: 'server', start: evidenced('nuxt start', conventional, file, 'Nuxt 2') }
      : 'server';
  const directory = isOld ? 'dist' : '.output/public';
  return {
    kind: 'static',
    output: evidenced({ directory, isSinglePage }, conventional, file, 'Nuxt makes files'),
  };
};

export const svelteKitRendering: RenderingRule = (package_, config, file) => {
  // Since Svelte's own file is not needed any more, its plugin for Vite gets it.
  const adapter = settingAt(config, 'kit.adapter') ?? pluginOption(config, 'adapter');
  const module = moduleOfCall(adapter);
  const uses = (name: string) => module === name || (module === undefined && package_.dependsOn(name));
  const options = argumentOfCall(adapter);
  if (uses('@sveltejs/adapter-static')) {
    const directory = configuredFolder(settingAt(options, 'pages')) ?? 'build';
    const fallback = settingAt(options, 'fallback');
    const isSinglePage = typeof fallback === 'string' && fallback !== '404.html';
    return {
      kind: 'static',
      output: evidenced({ directory, isSinglePage }, certain, file, 'adapter-static'),
    };
  }
  const out = configuredFolder(settingAt(options, 'out')) ?? 'build';
  if (uses('@sveltejs/adapter-node') || uses('svelte-adapter-bun'))
    return { kind: 'server', start: evidenced(`node ${out}`, certain, file, module ?? 'adapter-node') };
  return {
    kind: 'server',
    start: evidenced(`node ${out}`, guessed, file, 'as adapter-node builds it'),
    warnings: module === undefined ? [] : [forElsewhere(file, module, '@sveltejs/adapter-node')],
  };
};

export const astroRendering: RenderingRule = (package_, config, file) => {
  const output = settingAt(config, 'output');
  const adapter = settingAt(config, 'adapter');
  const module = moduleOfCall(adapter) ?? (package_.dependsOn('@astrojs/node') ? '@astrojs/node' : undefined);
  const rendersOnDemand =
    output === 'server' || output === 'hybrid' || (adapter !== undefined && module === '@astrojs/node');
  if (!rendersOnDemand) return 'static';
  const folder = configuredFolder(settingAt(config, 'outDir')) ?? 'dist';
  const isNode = module === undefined || module === '@astrojs/node';
  const mode = settingAt(argumentOfCall(adapter), 'mode');
  const certainty = isNode && mode !== 'middleware' ? conventional : guessed;
  return {
    kind: 'server',
    start: evidenced(`node ./${folder}/server/entry.mjs`, certainty, file, module ?? 'output: server'),
    warnings: isNode ? [] : [forElsewhere(file, module, '@astrojs/node')],
  };
};

function builds(package_: NodePackage, program: string, word: string): boolean {
  return ['build', 'export'].some((script) =>
    package_.commands(script).some((each) => each.program === program && each.args.includes(word)),
  );
}

/** Presets of Nitro that make files; the others make a server for one host or another. */
const staticPresets = new Set(['static', 'github-pages', 'github_pages', 'gitlab-pages', 'gitlab_pages']);

function isStaticPreset(value: unknown): boolean {
  return typeof value === 'string' && (staticPresets.has(value) || /^\w+-static$/.test(value));
}

function isOn(option: unknown): boolean {
  return option !== undefined && option !== false && settingAt(option, 'enabled') !== false;
}

function forElsewhere(file: string, module: string, needed: string): Warning {
  const message = `${file} uses ${module}; a server of your own needs ${needed}.`;
  return { code: 'adapter_for_elsewhere', message, file };
}

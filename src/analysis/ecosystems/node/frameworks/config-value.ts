/** Values in the configuration of a framework. */
import { valueAt } from '../../../readers/shape.ts';
import { isParsed } from '../../../repository.ts';

/** By its path: `build.outDir`. */
export function settingAt(config: unknown, path: string): unknown {
  return valueAt(config, ...path.split('.'));
}

/** A folder as it is written in configuration, from the folder of the app. */
export function configuredFolder(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 300) return undefined;
  const parts = value.split('/').filter((part) => part !== '' && part !== '.');
  return parts.length === 0 || parts.includes('..') ? undefined : parts.join('/');
}

/** A call that the configuration keeps, as in `adapter: node()`: the module that it comes from. */
export function moduleOfCall(value: unknown): string | undefined {
  return isParsed(value) && typeof value.$from === 'string' ? value.$from : undefined;
}

export function argumentOfCall(value: unknown): unknown {
  return isParsed(value) && Array.isArray(value.$arguments) ? value.$arguments[0] : undefined;
}

/** An option that a plugin gets: `remix({ ssr: false })`. */
export function pluginOption(config: unknown, key: string): unknown {
  const plugins = settingAt(config, 'plugins');
  for (const plugin of Array.isArray(plugins) ? plugins.flat() : []) {
    const value = settingAt(argumentOfCall(plugin), key);
    if (value !== undefined) return value;
  }
  return undefined;
}

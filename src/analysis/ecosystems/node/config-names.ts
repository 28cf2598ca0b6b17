/** A configuration file by the endings in which it may be written. */
export function config(name: string): readonly string[] {
  return ['ts', 'js', 'mjs', 'mts', 'cjs', 'cts'].map((ending) => `${name}.${ending}`);
}

export const viteConfigs = config('vite.config');
/** Where Nitro, which several frameworks build with, puts its server. */
export const nitroStart = 'node .output/server/index.mjs';

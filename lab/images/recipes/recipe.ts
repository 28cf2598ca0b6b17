/**
 * What an image of the lab is made of: a parent, Debian packages, plain files, one fixed script and a run
 * configuration. Recipes are data: they name things and build nothing, and no value of a lab ever gets into a
 * script. A tag is claimed only where the program inside is of that version.
 */

/** Spelled as in an OCI image configuration, so that it can be written out as it stands. */
export interface ImageConfig {
  readonly Env: readonly string[];
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly ExposedPorts?: Readonly<Record<string, Readonly<Record<string, never>>>>;
  readonly Volumes?: Readonly<Record<string, Readonly<Record<string, never>>>>;
  readonly WorkingDir?: string;
  readonly User?: string;
  readonly StopSignal?: string;
  readonly Labels?: Readonly<Record<string, string>>;
  /** Times are in nanoseconds. */
  readonly Healthcheck?: {
    readonly Test: readonly string[];
    readonly Interval?: number;
    readonly Timeout?: number;
    readonly StartPeriod?: number;
    readonly Retries?: number;
  };
}

export interface ImageRecipe {
  readonly name: string;
  /** The first one is the recipe's own; with the name it makes the key. */
  readonly tags: readonly [string, ...string[]];
  /** A tree (`debian-trixie`, `debian-bookworm`) or the key of a recipe that comes earlier in the list. */
  readonly parent: string;
  readonly packages: readonly string[];
  /** A folder below `lab/images/rootfs`, copied to `/` (modes kept, root:root) before the packages. */
  readonly rootfs?: string;
  /** Files of the machine: path inside → path on the machine. They are there when `setup` runs. */
  readonly fromHost?: Readonly<Record<string, string>>;
  /** `name@version`, packed on the machine and unpacked to /usr/local/lib/node_modules/<name>. */
  readonly npmPackages?: readonly string[];
  /** Run as root in the chroot by `/bin/sh -eu`, after packages and files; constant text. */
  readonly setup?: string;
  readonly config: ImageConfig;
}

export function keyOf(recipe: ImageRecipe): string {
  return `${recipe.name}:${recipe.tags[0]}`;
}

export const plainPath = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * The lab's images: recipes become layers, layers become an image in the registry's folder. Owns the registry's
 * contents; refuses to need a hub or a running Docker. Layers are not compressed: they travel over a wire inside
 * this machine, where packing costs more than it saves.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { debianTree, layer, type Tree } from '../build/trees.ts';
import { ended, run, spawnBound } from '../command.ts';
import { cacheDir } from '../places.ts';
import { type ImageRecipe, keyOf } from './recipes/recipe.ts';
import { type Blob, hasBlob, tagImage, writeBlobFrom, writeJsonBlob } from './registry-files.ts';

interface Built {
  readonly tree: Tree;
  readonly layers: readonly Blob[];
}

const here = dirname(fileURLToPath(import.meta.url));
const architecture = process.arch === 'x64' ? 'amd64' : process.arch;

/** Builds recipes in an order in which parents come first; what is there already costs nothing. */
export class ImageBuilder {
  readonly #built = new Map<string, Promise<Built>>();
  readonly #fetched = new Map<string, Promise<[string, string]>>();

  build(recipe: ImageRecipe): Promise<Built> {
    const key = keyOf(recipe);
    const known = this.#built.get(key) ?? this.#make(recipe);
    this.#built.set(key, known);
    return known;
  }

  async #make(recipe: ImageRecipe): Promise<Built> {
    const bottom = /^debian-(trixie|bookworm)$/.exec(recipe.parent)?.[1];
    const parent = bottom ? undefined : await this.#parentOf(recipe);
    const below = parent?.tree ?? (await debianTree(bottom === 'bookworm' ? 'bookworm' : 'trixie'));
    const { name, packages, rootfs, fromHost = {}, npmPackages = [], setup } = recipe;
    const unpacked = await Promise.all(npmPackages.map((wanted) => this.#npmPackage(wanted)));
    const tree = await layer({
      name: `image-${name}-${recipe.tags[0]}`,
      below,
      packages,
      fromHost: { ...fromHost, ...Object.fromEntries(unpacked) },
      ...(rootfs && { files: join(here, 'rootfs', rootfs) }),
      ...(setup && { setup }),
    });
    const layers = [...(parent?.layers ?? []), await blobOf(tree, parent ? 'layer' : 'whole')];
    publish(recipe, layers);
    return { tree, layers };
  }

  #npmPackage(wanted: string): Promise<[string, string]> {
    const fetched = this.#fetched.get(wanted) ?? npmPackage(wanted);
    this.#fetched.set(wanted, fetched);
    return fetched;
  }

  #parentOf(recipe: ImageRecipe): Promise<Built> {
    const parent = this.#built.get(recipe.parent);
    if (!parent)
      throw new Error(`${keyOf(recipe)} is built on ${recipe.parent}, which does not come before it`);
    return parent;
  }
}

function publish(recipe: ImageRecipe, layers: readonly Blob[]): void {
  const config = writeJsonBlob({
    architecture,
    os: 'linux',
    config: recipe.config,
    rootfs: { type: 'layers', diff_ids: layers.map(({ digest }) => digest) },
    history: layers.map(() => ({ created_by: 'slipway lab' })),
  });
  const manifest = writeJsonBlob({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...config },
    layers: layers.map((blob) => ({ mediaType: 'application/vnd.oci.image.layer.v1.tar', ...blob })),
  });
  tagImage(recipe.name, manifest, [config, ...layers], recipe.tags);
}

/** The layer's tar in the registry; made once, remembered beside the tree. */
async function blobOf(tree: Tree, what: 'whole' | 'layer'): Promise<Blob> {
  const note = join(cacheDir, 'blobs', `${tree.key}.json`);
  if (existsSync(note)) {
    const blob: Blob = JSON.parse(readFileSync(note, 'utf8'));
    if (hasBlob(blob.digest)) return blob;
  }
  const script = join(here, 'make-blob.sh');
  const namespace = ['--mount', '--pid', '--fork', '--kill-child=KILL', '--propagation', 'private'];
  const child = spawnBound('unshare', [...namespace, 'sh', '-eu', script, tree.folders.join(':'), what], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (!child.stdout) throw new Error('tar has no output');
  const blob = await writeBlobFrom(child.stdout, join(cacheDir, 'half', `${tree.key}.tar`));
  await ended(child);
  if (child.exitCode !== 0) throw new Error(`the layer of ${tree.key} could not be written`);
  mkdirSync(dirname(note), { recursive: true });
  writeFileSync(note, JSON.stringify(blob));
  return blob;
}

/** Fetched by this machine's npm, so that whatever registry it uses serves the image too. */
async function npmPackage(wanted: string): Promise<[string, string]> {
  const at = wanted.lastIndexOf('@');
  const name = wanted.slice(0, at);
  const folder = join(cacheDir, 'npm', wanted);
  if (!existsSync(folder)) {
    const half = `${folder}.half`;
    rmSync(half, { recursive: true, force: true });
    mkdirSync(half, { recursive: true });
    const packed = await run('npm', ['pack', wanted, '--silent', '--pack-destination', half], { cwd: half });
    await run('tar', ['--extract', '--file', join(half, packed.trim()), '--no-same-owner'], { cwd: half });
    await run('mv', [join(half, 'package'), folder]);
    rmSync(half, { recursive: true, force: true });
  }
  return [`/usr/local/lib/node_modules/${name}`, folder];
}

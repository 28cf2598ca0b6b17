/** Everything that has to be on the machine before a lab can boot; done once, minutes; later, nothing. */
import { ImageBuilder } from '../images/images.ts';
import { recipes } from '../images/recipes/all.ts';
import { keyOf } from '../images/recipes/recipe.ts';
import { installPackages, missingPackages } from '../needs.ts';
import type { Progress } from '../progress.ts';
import { serverTree, type VariantName } from '../servers/variants.ts';
import { toolsTree } from '../services/tools.ts';
import { building } from './building.ts';
import { debianTree } from './trees.ts';

export async function prepare(progress: Progress, wanted: readonly VariantName[]): Promise<void> {
  const waiting = () => progress.say('Another lab is building; waiting for it …');
  await building(async () => {
    const missing = missingPackages();
    if (missing.length > 0) {
      await progress.step(`Debian packages for this machine: ${missing.join(', ')}`, () =>
        installPackages(missing),
      );
    }
    await progress.step('Debian 13', () => debianTree('trixie'));
    const images = new ImageBuilder();
    // Two lanes, as most machines have two processors to spare; each is a chain of installs.
    const lanes = [
      [
        () => progress.step('Registry and ACME authority', toolsTree),
        ...[...new Set(wanted)].map(
          (name) => () => progress.step(`Server «${name}»`, () => serverTree(name)),
        ),
      ],
      [() => progress.step('Debian 12', () => debianTree('bookworm'))],
    ];
    const builds = recipes.map(
      (recipe) => () => progress.step(`Image ${keyOf(recipe)}`, () => images.build(recipe)),
    );
    await Promise.all(lanes.map((lane) => inTurn(lane)));
    await twoAtATime(builds);
  }, waiting);
}

async function inTurn(jobs: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const job of jobs) await job();
}

/** In order, so that parents begin before what is built on them; a child waits for its parent by itself. */
async function twoAtATime(jobs: readonly (() => Promise<unknown>)[]): Promise<void> {
  const left = [...jobs];
  const worker = async () => {
    for (let job = left.shift(); job; job = left.shift()) await job();
  };
  await Promise.all([worker(), worker()]);
}

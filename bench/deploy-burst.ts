/** Twenty new environments at once on one server, beside as many by hand: each needs a build, a container and a listener. */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ByHand } from './deploy-by-hand.ts';
import type { Body, DeployBench } from './deploy-scene.ts';
import { count, type Figure, secondsOf } from './figure.ts';

const together = 20;
/** As many as one connection has sessions for. */
const handsAtOnce = 8;

export async function inBurst(
  bench: DeployBench,
  hand: ByHand,
  app: string,
  settings: Body,
): Promise<Figure[]> {
  const numbers = Array.from({ length: together }, (_, index) => index + 1);
  // Builds of environments share no layers, so by hand must not share them either: each has other files from the first
  // layer on.
  const folders = numbers.map((number) => {
    const folder = `${app}-${number}`;
    cpSync(app, folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), `{"name":"burst-${number}","private":true}\n`);
    return folder;
  });
  const wishes: Awaited<ReturnType<typeof bench.prepared>>[] = [];
  for (const [index, folder] of folders.entries())
    wishes.push(await bench.prepared(`burst-${index + 1}`, folder, settings));
  const ours = await timed(async () => {
    const begun = await Promise.all(wishes.map((wish) => wish()));
    // One after the other: twenty who ask every few milliseconds would take a core from what they wait for.
    for (const { environmentId, deploymentId } of begun) await bench.ended(environmentId, deploymentId);
  });
  const byHand = await timed(async () => {
    const left = [...folders.entries()];
    const one = async () => {
      for (let next = left.shift(); next; next = left.shift()) await hand.deployNew(next[1], next[0] + 1);
    };
    await Promise.all(Array.from({ length: handsAtOnce }, one));
  });
  return [
    { what: 'deployments at once, each of a new environment', slipway: count(together) },
    {
      what: 'the time of all of them, divided by their number',
      slipway: secondsOf(ours / together),
      beside: { name: 'by hand over warm ssh', amount: secondsOf(byHand / together) },
      aim: { ratioAtMost: 1.2 },
    },
  ];
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

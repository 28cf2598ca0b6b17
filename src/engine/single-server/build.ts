/** Images are built on the server itself, as work that outlives us; its context is a folder named after the deployment. */
import { removeContext, buildImage as runBuild, sendContext } from '../../adapters/docker/build-image.ts';
import { pruneImages } from '../../adapters/docker/images.ts';
import type { DeploymentId } from '../../ids.ts';
import type { FollowUnitOptions } from '../../remote/units/follow-unit.ts';
import { stopUnitFirst } from '../../remote/units/units.ts';
import { askAfter, type DockerHost } from '../docker-host.ts';
import type { BuildContext, BuiltImage, ImageBuild } from '../engine.ts';
import { labelsOf } from '../placement.ts';

const folderOf = (id: DeploymentId) => `/var/lib/slipway/builds/${id}`;
export const buildUnitOf = (id: DeploymentId) => `slipway-${id}-build`;

export async function sendBuildContext(
  { remote, fence, signal }: DockerHost,
  id: DeploymentId,
  { tar, files }: BuildContext,
): Promise<void> {
  const closed = files.map((file) => ({ ...file, mode: 0o600 }));
  await sendContext(remote, { folder: folderOf(id), tar, files: closed, fence }, signal);
}

export function removeBuildContext({ remote }: DockerHost, id: DeploymentId): Promise<void> {
  return removeContext(remote, folderOf(id));
}

export function buildImage(
  { placement, remote, fence }: DockerHost,
  id: DeploymentId,
  build: ImageBuild,
  output: FollowUnitOptions,
): Promise<BuiltImage> {
  const labels = labelsOf(placement, 'image');
  const places = { unit: buildUnitOf(id), folder: folderOf(id), fence };
  return runBuild(remote, { ...build, ...places, labels, owner: 'slipway.environment' }, output);
}

/** It may have made an image already, which has no name yet. */
export async function stopBuild(host: DockerHost, id: DeploymentId): Promise<void> {
  const labels = labelsOf(host.placement, 'image');
  await askAfter(host, stopUnitFirst(buildUnitOf(id), host.fence), [pruneImages(labels)]);
}

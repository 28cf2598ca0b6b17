/**
 * BusyBox 1.37. The official image holds nothing else; this one is Debian with BusyBox's commands first in the path,
 * so `ls` and `sh` are BusyBox's, while `/bin/sh` by its full path is still Debian's.
 */
import type { ImageRecipe } from './recipe.ts';
import { plainPath } from './recipe.ts';

const setup = `
rm -rf /var/lib/apt/lists/* /var/log/*
/bin/busybox --install -s /usr/local/bin
`;

export const busybox: ImageRecipe = {
  name: 'busybox',
  tags: ['1', '1.37', 'latest'],
  parent: 'debian:trixie-slim',
  packages: ['busybox-static'],
  setup,
  config: { Env: [plainPath], Cmd: ['sh'] },
};

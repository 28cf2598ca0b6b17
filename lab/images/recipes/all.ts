/** Every image of the lab, parents before what is built on them. */
import { busybox } from './busybox.ts';
import { bookworm, trixie } from './debian.ts';
import { golang } from './golang.ts';
import { haproxy } from './haproxy.ts';
import { java, maven } from './java.ts';
import { mariadb } from './mariadb.ts';
import { nginx } from './nginx.ts';
import { nodeOnBookworm, nodeOnTrixie } from './node.ts';
import { composer, php } from './php.ts';
import { postgres } from './postgres.ts';
import { python } from './python.ts';
import type { ImageRecipe } from './recipe.ts';
import { redis } from './redis.ts';
import { ruby } from './ruby.ts';

export const recipes: readonly ImageRecipe[] = [
  bookworm,
  trixie,
  nodeOnTrixie,
  nodeOnBookworm,
  python,
  golang,
  php,
  composer,
  ruby,
  java,
  maven,
  postgres,
  mariadb,
  redis,
  haproxy,
  nginx,
  busybox,
];

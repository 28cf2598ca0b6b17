/**
 * The two Debians, without documentation as in the official slim images. `trixie` and `latest` are the slim tree as
 * well; the official ones differ from it only in documentation.
 */
import type { ImageRecipe } from './recipe.ts';
import { plainPath } from './recipe.ts';

// The archive's address is taken from the tree, so images follow the mirror that the tree was made from.
// The tree's own apt settings go: an image installs what is recommended unless it is told not to, as the official one.
const setup = `
read -r _ archive suite _ < /etc/apt/sources.list
cat > /etc/apt/sources.list.d/debian.sources <<END
Types: deb
URIs: $archive
Suites: $suite $suite-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: $archive-security
Suites: $suite-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
END
rm -f /etc/apt/sources.list /etc/apt/apt.conf.d/90lab
find /usr/share/doc -mindepth 1 -not -name copyright -not -type d -delete
find /usr/share/doc -mindepth 1 -type d -empty -delete
find /usr/share/locale -mindepth 1 -maxdepth 1 -type d -exec rm -rf '{}' +
rm -rf /usr/share/man/* /usr/share/info/* /usr/share/groff/* /usr/share/lintian/*
rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/log/*
`;

const config = { Env: [plainPath], Cmd: ['bash'] };

export const bookworm: ImageRecipe = {
  name: 'debian',
  tags: ['bookworm-slim', 'bookworm', '12-slim', '12'],
  parent: 'debian-bookworm',
  packages: [],
  rootfs: 'debian',
  setup,
  config,
};

export const trixie: ImageRecipe = {
  name: 'debian',
  tags: ['trixie-slim', 'trixie', '13-slim', '13', 'latest'],
  parent: 'debian-trixie',
  packages: [],
  rootfs: 'debian',
  setup,
  config,
};

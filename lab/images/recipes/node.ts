/**
 * Node: the very binary that the project pins, on both Debians. npm is the one that Node 24.21 ships; corepack and
 * yarn lie where the official image has them. All tags are the slim image: no compiler, no git.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { hostCertificates, nodeCertificates, opensslCertificates } from './host-certificates.ts';
import type { ImageRecipe } from './recipe.ts';
import { plainPath } from './recipe.ts';

const nodePackage = new URL('../../../node_modules/node/', import.meta.url);

const setup = `
groupadd --gid 1000 node
useradd --uid 1000 --gid node --shell /bin/bash --create-home node
mkdir -p /etc/ssl/certs
cp /usr/local/share/ca-certificates/lab-host.crt /etc/ssl/certs/ca-certificates.crt
chmod 755 /usr/local/bin/node
ln -s node /usr/local/bin/nodejs
cd /usr/local/lib/node_modules
chmod 755 npm/bin/npm-cli.js npm/bin/npx-cli.js corepack/dist/corepack.js yarn/bin/yarn.js
ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx
ln -s ../lib/node_modules/corepack/dist/corepack.js /usr/local/bin/corepack
mv yarn /opt/yarn-v1.22.22
ln -s /opt/yarn-v1.22.22/bin/yarn.js /usr/local/bin/yarn
ln -s /opt/yarn-v1.22.22/bin/yarn.js /usr/local/bin/yarnpkg
rm -rf npm/man npm/docs
for program in node npm corepack yarn; do
  env -i HOME=/tmp/home PATH=/usr/local/bin:/usr/bin:/bin "$program" --version
done
rm -rf /tmp/* /var/lib/apt/lists/* /var/log/*
`;

function pinnedVersion(): string {
  const described: unknown = JSON.parse(readFileSync(new URL('package.json', nodePackage), 'utf8'));
  if (typeof described !== 'object' || described === null || !('version' in described)) {
    throw new Error('The package "node" does not say its version; run npm ci.');
  }
  return String(described.version);
}

const shared = {
  name: 'node',
  // The binary for x64 may want libatomic1; it is in no minimal tree, and it is tiny.
  packages: ['libatomic1'],
  rootfs: 'node',
  fromHost: {
    ...hostCertificates,
    '/usr/local/bin/node': fileURLToPath(new URL('bin/node', nodePackage)),
  },
  npmPackages: ['npm@11.19.1', 'corepack@0.36.0', 'yarn@1.22.22'],
  setup,
  config: {
    Env: [
      plainPath,
      `NODE_VERSION=${pinnedVersion()}`,
      'YARN_VERSION=1.22.22',
      nodeCertificates,
      opensslCertificates,
    ],
    Entrypoint: ['docker-entrypoint.sh'],
    Cmd: ['node'],
  },
} as const;

export const nodeOnTrixie: ImageRecipe = {
  ...shared,
  tags: ['24-slim', '24', '24-trixie-slim', '24-trixie', 'lts-slim', 'lts', 'slim', 'latest'],
  parent: 'debian:trixie-slim',
};

export const nodeOnBookworm: ImageRecipe = {
  ...shared,
  tags: ['24-bookworm-slim', '24-bookworm'],
  parent: 'debian:bookworm-slim',
};

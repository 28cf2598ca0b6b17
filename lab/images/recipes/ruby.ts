/**
 * Ruby 3.3 with Bundler and compilers; one image for the full tag and the slim one. No index of gems is reachable in the
 * lab: Bundler installs what Ruby brings itself.
 */
import { hostCertificates, opensslCertificates } from './host-certificates.ts';
import type { ImageRecipe } from './recipe.ts';
import { plainPath } from './recipe.ts';

const setup = `
cp /usr/local/share/ca-certificates/lab-host.crt /etc/ssl/certs/ca-certificates.crt
mkdir -p /usr/local/bundle
chmod 1777 /usr/local/bundle
for program in ruby gem bundle rake; do ln -s "/usr/bin/$program" "/usr/local/bin/$program"; done
bundle --version
rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/* /tmp/*
`;

export const ruby: ImageRecipe = {
  name: 'ruby',
  tags: ['3.3', '3.3-slim', '3.3-trixie', '3.3-slim-trixie'],
  parent: 'debian:trixie-slim',
  packages: ['build-essential', 'ca-certificates', 'git', 'ruby', 'ruby-bundler', 'ruby-dev'],
  fromHost: hostCertificates,
  setup,
  config: {
    Env: [
      plainPath,
      'LANG=C.UTF-8',
      'RUBY_VERSION=3.3.8',
      'GEM_HOME=/usr/local/bundle',
      'BUNDLE_SILENCE_ROOT_WARNING=1',
      opensslCertificates,
    ],
    Cmd: ['irb'],
  },
};

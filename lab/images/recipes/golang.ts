/**
 * Go 1.24 with the standard library only: no module proxy is reachable in the lab, and none is asked. There is no C
 * compiler, so Go builds without cgo; the official image has one.
 */
import { hostCertificates, opensslCertificates } from './host-certificates.ts';
import type { ImageRecipe } from './recipe.ts';

// Go comes without compiled packages, and compiling what a web server needs takes most of a minute on two cores. So
// root's build cache holds it already; root is who builds in a Dockerfile.
const setup = `
mkdir -p /etc/ssl/certs
cp /usr/local/share/ca-certificates/lab-host.crt /etc/ssl/certs/ca-certificates.crt
ln -s /usr/lib/go-1.24 /usr/local/go
mkdir -p /go/src /go/bin
chmod -R 1777 /go
find /usr/share/go-1.24/src -name '*_test.go' -delete
find /usr/share/go-1.24/src -name testdata -type d -prune -exec rm -rf '{}' +
rm -rf /usr/share/go-1.24/test /usr/share/go-1.24/api /var/lib/apt/lists/* /var/log/*
cd /go
env -i HOME=/root PATH=/usr/bin:/bin GOPATH=/go GOTOOLCHAIN=local GOPROXY=off /usr/local/go/bin/go build \\
  database/sql embed encoding/json flag html/template log/slog net/http net/http/httptest os/signal testing
`;

export const golang: ImageRecipe = {
  name: 'golang',
  tags: ['1.24', '1.24-trixie', '1', 'latest'],
  parent: 'debian:trixie-slim',
  packages: ['golang-go'],
  fromHost: hostCertificates,
  setup,
  config: {
    Env: [
      'PATH=/go/bin:/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      'GOLANG_VERSION=1.24.4',
      'GOTOOLCHAIN=local',
      'GOPATH=/go',
      'GOPROXY=off',
      opensslCertificates,
    ],
    Cmd: ['bash'],
    WorkingDir: '/go',
  },
};

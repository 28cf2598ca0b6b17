/**
 * Python 3.13 with Debian's pip. No package index is reachable in the lab, so the image carries wheels made of
 * Debian's own Python packages, and pip looks nowhere else: what is not among them cannot be installed. The packages
 * themselves are removed again, so that `pip install` has something to do.
 */
import { hostCertificates, opensslCertificates } from './host-certificates.ts';
import type { ImageRecipe } from './recipe.ts';
import { plainPath } from './recipe.ts';

// libpq5 and libuv1t64 are named because the wheels of psycopg and uvloop load them from the system.
// site-packages is the real folder: Dockerfiles copy that path, while Debian's pip writes to dist-packages.
// The wheels are all installed once at the end, so that a broken one fails here and not in somebody's build.
const setup = `
cp /usr/local/share/ca-certificates/lab-host.crt /etc/ssl/certs/ca-certificates.crt
wheels=/usr/local/share/lab-wheels
mkdir -p "$wheels"
python3 -I /usr/local/lib/lab/make-wheels.py "$wheels"
ln -s /usr/share/python-wheels/*.whl "$wheels"
rm -f /usr/lib/python3.13/EXTERNALLY-MANAGED
apt-mark manual libpq5 libuv1t64 ca-certificates python3-pip python3-venv netbase > /dev/null
apt-get purge -y -qq --autoremove python3-fastapi python3-uvicorn python3-redis python3-flask \\
  python3-gunicorn python3-django python3-psycopg libjs-jquery > /dev/null
mkdir -p /usr/local/lib/python3.13/site-packages
rm -rf /usr/local/lib/python3.13/dist-packages
ln -s site-packages /usr/local/lib/python3.13/dist-packages
ln -s /usr/bin/python3.13 /usr/local/bin/python3.13
ln -s python3.13 /usr/local/bin/python3
ln -s python3.13 /usr/local/bin/python
ln -s /usr/bin/pip3 /usr/local/bin/pip3
ln -s pip3 /usr/local/bin/pip
check() { env -i HOME=/tmp/home PATH=/usr/local/bin:/usr/bin:/bin "$@"; }
check python3 -m venv /tmp/check
check /tmp/check/bin/pip install --quiet --no-index --find-links "$wheels" \\
  fastapi uvicorn redis flask gunicorn django psycopg uvloop setuptools wheel
check /tmp/check/bin/pip check
check /tmp/check/bin/python -c 'import fastapi, uvicorn, redis, flask, gunicorn, django, psycopg, uvloop'
rm -rf /tmp/check /tmp/home /var/lib/apt/lists/* /var/cache/apt/* /var/log/*
find /usr -name __pycache__ -type d -prune -exec rm -rf '{}' +
`;

export const python: ImageRecipe = {
  name: 'python',
  tags: ['3.13-slim', '3.13', '3.13-slim-trixie', '3-slim', '3', 'slim', 'latest'],
  parent: 'debian:trixie-slim',
  packages: [
    'ca-certificates',
    'libjs-jquery',
    'libpq5',
    'libuv1t64',
    'netbase',
    'python3',
    'python3-django',
    'python3-fastapi',
    'python3-flask',
    'python3-gunicorn',
    'python3-pip',
    'python3-psycopg',
    'python3-redis',
    'python3-uvicorn',
    'python3-venv',
  ],
  rootfs: 'python',
  fromHost: hostCertificates,
  setup,
  config: {
    Env: [
      plainPath,
      'LANG=C.UTF-8',
      'PYTHON_VERSION=3.13.5',
      opensslCertificates,
      'PIP_NO_INDEX=1',
      'PIP_FIND_LINKS=/usr/local/share/lab-wheels',
      'PIP_BREAK_SYSTEM_PACKAGES=1',
      'PIP_ROOT_USER_ACTION=ignore',
      'PIP_DISABLE_PIP_VERSION_CHECK=1',
    ],
    Cmd: ['python3'],
  },
};

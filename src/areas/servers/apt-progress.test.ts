import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aptProgress } from './apt-progress.ts';

const printed = `Get:1 http://deb.debian.org/debian trixie InRelease [140 kB]
Get:2 http://deb.debian.org/debian trixie/main arm64 Packages [9,607 kB]
Reading package lists...
The following NEW packages will be installed:
  docker.io runc
0 upgraded, 2 newly installed, 0 to remove and 3 not upgraded.
Need to get 38.0 MB of archives.
Get:1 http://deb.debian.org/debian trixie/main arm64 runc arm64 1.1.15+ds1-2+b4 [2,930 kB]
Get:2 http://deb.debian.org/debian trixie/main arm64 docker.io arm64 26.1.5+dfsg1-9+b9 [35.1 MB]
Selecting previously unselected package runc.
Preparing to unpack .../runc_1.1.15_arm64.deb ...
Unpacking runc (1.1.15+ds1-2+b4) ...
Setting up runc (1.1.15+ds1-2+b4) ...
Unpacking docker.io (26.1.5+dfsg1-9+b9) ...
Setting up docker.io (26.1.5+dfsg1-9+b9) ...
Processing triggers for man-db (2.13.1-1) ...`;

function toldOf(lines: string): [number, string][] {
  const told: [number, string][] = [];
  const take = aptProgress((fraction, text) => told.push([Math.round(fraction * 100), text]));
  for (const line of lines.split('\n')) take(line);
  return told;
}

test('packages are counted as they are fetched, unpacked and set up, and it never goes back', () => {
  assert.deepEqual(toldOf(printed), [
    [17, 'fetching runc, 1 of 2'],
    [33, 'fetching docker.io, 2 of 2'],
    [50, 'unpacking runc, 1 of 2'],
    [83, 'setting up runc, 1 of 2'],
    [83, 'unpacking docker.io, 2 of 2'],
    [100, 'setting up docker.io, 2 of 2'],
  ]);
});

test('what is there already takes no time, and lines of anything else say nothing', () => {
  const cached = printed
    .split('\n')
    .filter((line) => !line.startsWith('Get:'))
    .join('\n');
  assert.deepEqual(toldOf(cached)[0], [50, 'unpacking runc, 1 of 2']);
  assert.deepEqual(
    toldOf('Setting up the shop\n0 upgraded, 0 newly installed, 0 to remove\nUnpacking it all'),
    [],
  );
});

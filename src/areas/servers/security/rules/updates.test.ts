import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkOf, context, factsWith } from '../../../../../test/support/security-facts.ts';

const status = (id: string, changes: Record<string, string>) => checkOf(id, factsWith(changes)).status;

test('a waiting security fix fails on Debian and on Ubuntu; another update does not', () => {
  const waits = (line: string) =>
    status('security_updates', {
      apt: `${line}\n1 upgraded, 0 newly installed, 0 to remove and 0 not upgraded.`,
    });
  assert.equal(
    waits('Inst libssl3 [3.5.1-1] (3.5.4-1~deb13u1 Debian-Security:13/stable-security [amd64])'),
    'fail',
  );
  assert.equal(
    waits('Inst libssl3 [3.0.2] (3.0.3 Ubuntu:22.04/jammy-updates, Ubuntu:22.04/jammy-security [amd64])'),
    'fail',
  );
  assert.equal(waits('Inst tzdata [2026a-0] (2026b-0 Debian:13/stable-updates [all])'), 'pass');
});

test('lists older than a week prove nothing, but a fix that waits in them still waits', () => {
  const later = { ...context, now: new Date('2026-11-20T23:10:00Z') };
  assert.equal(checkOf('security_updates', factsWith(), later).status, 'unknown');
  assert.match(checkOf('security_updates', factsWith(), later).evidence, /8 days old/);
  const apt = 'Inst libssl3 [3.5.1-1] (3.5.4-1 Debian-Security:13/stable-security [amd64])\n1 upgraded';
  assert.equal(checkOf('security_updates', factsWith({ apt }), later).status, 'fail');
  const noLists = factsWith()
    .text('apt_lists')
    .replaceAll(/^release.*$/gm, '');
  assert.equal(status('security_updates', { apt_lists: noLists }), 'unknown');
  assert.equal(
    status('security_updates', { apt: 'E: The package lists or status file could not be parsed' }),
    'unknown',
  );
});

test('unattended upgrades need the package, both settings, both timers and the security archive', () => {
  const config = factsWith().text('apt_config');
  const with_ = (from: string | RegExp, to: string) =>
    status('automatic_updates', { apt_config: config.replace(from, to) });
  assert.equal(with_('x', 'x'), 'pass');
  assert.equal(with_('Unattended-Upgrade "1"', 'Unattended-Upgrade "0"'), 'fail');
  assert.equal(with_('Unattended-Upgrade "1"', 'Unattended-Upgrade "always"'), 'pass');
  assert.equal(with_(/APT::Periodic::Update.*\n/, ''), 'fail');
  assert.equal(with_('apt-daily.timer active', 'apt-daily.timer inactive'), 'fail');
  assert.equal(with_('package installed', 'package '), 'fail');
  assert.equal(with_('label=Debian-Security', 'label=Debian'), 'fail');
});

test('a reboot is needed by the flag or by a newer kernel, and numbers in versions are compared as numbers', () => {
  const needs = (reboot: string) => status('reboot_needed', { reboot });
  assert.equal(
    needs('running 6.1.0-9-amd64\nkernel vmlinuz-6.1.0-10-amd64\nkernel vmlinuz-6.1.0-9-amd64'),
    'warn',
  );
  assert.equal(
    needs('running 6.1.0-10-amd64\nkernel vmlinuz-6.1.0-10-amd64\nkernel vmlinuz-6.1.0-9-amd64'),
    'pass',
  );
  assert.equal(
    needs('running 6.1.0-10-amd64\nkernel vmlinuz-6.1.0-10-amd64\nrequired\npackage libc6'),
    'warn',
  );
  assert.equal(needs('running 6.18.44'), 'not_applicable');
});

test('a source that is trusted unsigned, careless settings and a missing security archive fail', () => {
  const lists = factsWith().text('apt_lists');
  assert.equal(
    status('package_sources', { apt_lists: `${lists}\nforced /etc/apt/sources.list.d/x.list:1` }),
    'fail',
  );
  assert.equal(status('package_sources', { apt_lists: lists.replace(' yes ', ' no ') }), 'fail');
  assert.equal(
    status('package_sources', { apt_lists: lists.replace(/^.*trixie-security_.*$/m, '') }),
    'fail',
  );
  const careless = `${factsWith().text('apt_config')}\nAPT::Get::AllowUnauthenticated "true";`;
  assert.equal(status('package_sources', { apt_config: careless }), 'fail');
});

test('a release past its end fails, close to it warns, an unknown one is unknown', () => {
  const os = (id: string, version: string) =>
    status('os_supported', { os: `PRETTY_NAME="X"\nID=${id}\nVERSION_ID="${version}"` });
  assert.deepEqual(
    [
      os('debian', '12'),
      os('debian', '13'),
      os('debian', '11'),
      os('ubuntu', '22.04'),
      os('ubuntu', '25.10'),
      os('ubuntu', '26.04'),
      os('arch', ''),
    ],
    ['pass', 'pass', 'fail', 'pass', 'fail', 'pass', 'unknown'],
  );
  const close = { ...context, now: new Date('2027-05-01T00:00:00Z') };
  assert.equal(
    checkOf('os_supported', factsWith({ os: 'ID=ubuntu\nVERSION_ID="22.04"' }), close).status,
    'warn',
  );
});

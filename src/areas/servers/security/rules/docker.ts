/** What Docker opens, and how its daemon is set. */

import type { Facts } from '../facts.ts';
import { iptablesFate, readChains } from '../iptables.ts';
import { isRecord, parseJson } from '../json.ts';
import { nftFate } from '../nft.ts';
import { interfaceAddresses, isLoopback, type Listener, listeners } from '../port-probes.ts';
import { publishedPorts, splitValues } from '../published-ports.ts';
import { fail, notApplicable, pass, type Rule, type Verdict, warn } from '../rule.ts';
import { expectedPorts, shownPort } from './firewall.ts';

const noDocker = notApplicable('Docker is not installed.');
/** Those have certificates of their own. */
const swarmPorts = [2377, 7946];
const daemonFile = '/etc/docker/daemon.json';

function ifThere(judge: Rule['judge']): Rule['judge'] {
  return (facts, ctx) => (facts.isAbsent('docker') ? noDocker : judge(facts, ctx));
}

function daemonSettings(facts: Facts): Record<string, unknown> {
  if (facts.isAbsent('dockerd')) return {};
  const text = facts.text('dockerd').trim();
  const settings = text === '' ? {} : parseJson(text, daemonFile);
  return isRecord(settings) ? settings : {};
}

function daemonInfo(facts: Facts): Record<string, unknown> {
  const info = parseJson(facts.text('docker'), 'docker info');
  return isRecord(info) ? info : {};
}

function daemonArguments(facts: Facts): string[] {
  return facts.isAbsent('dockerd_arguments') ? [] : facts.lines('dockerd_arguments');
}

/** Whether a packet that is forwarded to a container's published port meets a rule of the owner that drops it. */
function isForwardRefused(facts: Facts, family: 'ipv4' | 'ipv6'): boolean {
  const device = facts.lines('routes')[0] ?? 'eth0';
  const packet = { family, device, source: family === 'ipv4' ? '192.0.2.1' : '2001:db8::1', port: 5432 };
  const section = family === 'ipv4' ? 'iptables' : 'ip6tables';
  const saved = facts.isAbsent(section) ? '' : facts.text(section);
  if (readChains(saved).has('DOCKER-USER') && userChainFate(saved, packet)) return true;
  if (facts.isAbsent('nft')) return false;
  const isDockers = (owner: string, table: string) =>
    table.startsWith('docker') || (owner !== 'inet' && /^(filter|nat|mangle|raw)$/.test(table));
  return ['prerouting', 'forward'].some(
    (hook) => nftFate(facts.text('nft'), hook, packet, isDockers) === 'drop',
  );
}

function userChainFate(saved: string, packet: Parameters<typeof iptablesFate>[2]): boolean {
  // The chain ends in Docker's own `RETURN`; only a drop before it is the owner's.
  return iptablesFate(saved, 'DOCKER-USER', packet) === 'drop';
}

export const dockerRules: readonly Rule[] = [
  {
    id: 'docker_published_ports',
    title: 'No port that Docker publishes answers from outside, except 80 and 443',
    severity: 'high',
    fix: 'Publish the port on 127.0.0.1 only (`-p 127.0.0.1:5432:5432`), or not at all; Docker opens it around ufw.',
    judge: ifThere((facts, ctx) => {
      const published = publishedPorts(facts).filter(({ port }) => !expectedPorts(ctx).includes(port));
      const answering = facts.probes.filter(
        (probe) => probe.answers && published.some(({ port }) => port === probe.port),
      );
      const named = (port: number) =>
        [...new Set(published.filter((each) => each.port === port).map(({ container }) => container))].join(
          ', ',
        );
      if (answering.length > 0)
        return fail(
          answering
            .map(({ address, port }) => `${shownPort(address, port)} answers: container ${named(port)}`)
            .join('\n'),
        );
      if (published.length === 0) return pass('Docker publishes no other port.');
      if (!facts.probes.some(({ answers }) => answers))
        return { status: 'unknown', evidence: 'No port of the server answered a connection from here.' };
      const ports = [...new Set(published.map(({ port }) => port))];
      return pass(`Published, but refused from outside: ${ports.join(', ')}.`);
    }),
  },
  {
    id: 'docker_firewall',
    title: 'The firewall also holds for ports that Docker publishes',
    severity: 'medium',
    fix: 'Put rules into the chain DOCKER-USER that drop new connections from the public interface, except to 80 and 443.',
    judge: ifThere((facts) => {
      // Without rules of Docker for IPv6, such connections end at its proxy, and the rules for INPUT hold.
      const hasIpv6Rules =
        interfaceAddresses(facts).some(({ family }) => family === 'inet6') &&
        !facts.isAbsent('ip6tables') &&
        readChains(facts.text('ip6tables')).has('DOCKER-USER');
      const families = hasIpv6Rules ? (['ipv4', 'ipv6'] as const) : (['ipv4'] as const);
      const open = families.filter((family) => !isForwardRefused(facts, family));
      if (open.length === 0) return pass('A new connection to a published port is dropped.');
      return warn(
        `DOCKER-USER and nftables let a new ${open.join(' and ')} connection to a published port through.`,
      );
    }),
  },
  {
    id: 'docker_api',
    title: "Docker's control port is not on the network",
    severity: 'critical',
    fix: `Remove every \`tcp://\` from \`hosts\` in ${daemonFile} and from the arguments of dockerd, and restart Docker; use SSH to reach it.`,
    judge: ifThere((facts): Verdict => {
      const { hosts } = daemonSettings(facts);
      const told = [...(Array.isArray(hosts) ? hosts.map(String) : []), ...daemonArguments(facts)];
      const written = told
        .filter((each) => each.includes('tcp://'))
        .map((each) => each.slice(each.indexOf('tcp://')));
      const isApi = ({ port, program }: Listener) =>
        port === 2375 ||
        port === 2376 ||
        (program === 'dockerd' &&
          !swarmPorts.includes(port) &&
          !publishedPorts(facts).some((each) => each.port === port));
      const open = listeners(facts).filter(isApi);
      const sockets = open.map(({ address, port, program }) => `${shownPort(address, port)} (${program})`);
      const evidence = [...written, ...sockets].join('\n');
      if (evidence === '') return pass('dockerd listens on its local socket only.');
      // Who reaches it on the machine itself is root there without a password.
      return open.every(({ address }) => isLoopback(address)) &&
        written.every((each) => /tcp:\/\/(127\.|localhost|\[::1)/.test(each))
        ? warn(evidence)
        : fail(evidence);
    }),
  },
  {
    id: 'docker_live_restore',
    title: 'Containers go on while Docker is restarted',
    severity: 'low',
    fix: `Set \`"live-restore": true\` in ${daemonFile} and reload Docker.`,
    judge: ifThere((facts) => {
      const { liveRestore } = daemonInfo(facts);
      return liveRestore === true
        ? pass('live-restore is on.')
        : warn(`live-restore: ${String(liveRestore)}`);
    }),
  },
  {
    id: 'docker_no_new_privileges',
    title: 'Containers cannot gain privileges by default',
    severity: 'low',
    fix: `Set \`"no-new-privileges": true\` in ${daemonFile} and restart Docker; containers that need setuid programs must then say so.`,
    judge: ifThere((facts) => {
      const isSet =
        daemonSettings(facts)['no-new-privileges'] === true ||
        daemonArguments(facts).some((each) => /^--no-new-privileges(=true)?$/.test(each)) ||
        JSON.stringify(daemonInfo(facts).security ?? []).includes('no-new-privileges');
      return isSet
        ? pass('no-new-privileges is the default.')
        : warn(`no-new-privileges is not set in ${daemonFile}.`);
    }),
  },
  {
    id: 'docker_log_rotation',
    title: "Containers' logs cannot fill the disk",
    severity: 'low',
    fix: `Set \`"log-driver": "local"\`, or \`"log-opts": {"max-size": "10m", "max-file": "3"}\`, in ${daemonFile} and restart Docker; it holds for containers made afterwards.`,
    judge: ifThere((facts) => {
      const { logging } = daemonInfo(facts);
      if (logging !== 'json-file') return pass(`log driver: ${String(logging)}`);
      const options = daemonSettings(facts)['log-opts'];
      const isBounded = isRecord(options) && typeof options['max-size'] === 'string';
      const unbounded = facts.lines('containers').flatMap((line) => {
        const [name = '', , config = ''] = splitValues(line);
        return config.includes('"max-size"') ? [] : [name];
      });
      if (!isBounded) return warn('log driver json-file, without max-size');
      return unbounded.length > 0
        ? warn(`max-size is set, but these containers were made without it: ${unbounded.join(', ')}`)
        : pass(`json-file, max-size ${String(options['max-size'])}`);
    }),
  },
];

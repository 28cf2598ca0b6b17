/** What Docker opens, and how its daemon is set. */

import { type Facts, isRecord, type PortProbe, parseFactJson } from '../facts.ts';
import { isLoopbackAddress, listeners, type TcpListener } from '../port-probes.ts';
import { publishedPorts, splitValues } from '../published-ports.ts';
import {
  fail,
  type JudgeContext,
  notApplicable,
  pass,
  type Rule,
  type RuleVerdict,
  unknown,
  warn,
} from '../rule.ts';
import { hasAppRules, hasForwardRules } from '../rule-sets.ts';
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
  const settings = text === '' ? {} : parseFactJson(text, daemonFile);
  return isRecord(settings) ? settings : {};
}

function daemonInfo(facts: Facts): Record<string, unknown> {
  const info = parseFactJson(facts.text('docker'), 'docker info');
  return isRecord(info) ? info : {};
}

function daemonArguments(facts: Facts): string[] {
  return facts.isAbsent('dockerd_arguments') ? [] : facts.lines('dockerd_arguments');
}

/** The ports that Docker publishes besides SSH, 80 and 443, and what connections from here met there. */
function publishedProbes(facts: Facts, ctx: JudgeContext) {
  const published = publishedPorts(facts).filter(({ port }) => !expectedPorts(ctx).includes(port));
  const probes = facts.probes.filter((probe) => published.some(({ port }) => port === probe.port));
  return { published, probes, open: probes.filter(({ state }) => state === 'open') };
}

export const dockerRules: readonly Rule[] = [
  {
    id: 'docker_published_ports',
    title: 'No port that Docker publishes answers from outside, except 80 and 443',
    severity: 'high',
    fix: 'Publish the port on 127.0.0.1 only (`-p 127.0.0.1:5432:5432`), or not at all; Docker opens it around ufw.',
    judge: ifThere((facts, ctx) => {
      const { published, open } = publishedProbes(facts, ctx);
      const named = (port: number) =>
        [...new Set(published.filter((each) => each.port === port).map(({ container }) => container))].join(
          ', ',
        );
      if (open.length > 0)
        return fail(
          open
            .map(({ address, port }) => `${shownPort(address, port)} answers: container ${named(port)}`)
            .join('\n'),
        );
      if (published.length === 0) return pass('Docker publishes no other port.');
      if (!facts.probes.some(({ state }) => state === 'open'))
        return unknown('No port of the server answered a connection from here.');
      const ports = [...new Set(published.map(({ port }) => port))];
      return pass(`Published, but refused from outside: ${ports.join(', ')}.`);
    }),
  },
  {
    id: 'docker_firewall',
    title: 'The firewall also holds for ports that Docker publishes',
    severity: 'medium',
    fix: 'Put rules into the chain DOCKER-USER that drop new connections from the public interface, except to 80 and 443.',
    judge: ifThere((facts, ctx) => {
      const { probes, open } = publishedProbes(facts, ctx);
      const shown = (list: readonly PortProbe[]) =>
        list.map(({ address, port }) => shownPort(address, port)).join(', ');
      if (open.length > 0) return warn(`A new connection to a published port comes through: ${shown(open)}.`);
      const isReached = facts.probes.some(({ state }) => state === 'open');
      if (isReached && probes.length > 0 && probes.every(({ state }) => state === 'filtered'))
        return pass(`A new connection to a published port is dropped: ${shown(probes)}.`);
      return hasForwardRules(facts)
        ? pass('Rules of DOCKER-USER or nftables drop connections to published ports; there was none to try.')
        : warn('Neither DOCKER-USER nor nftables has a rule that drops connections to published ports.');
    }),
  },
  {
    id: 'docker_app_network',
    title: "Applications and builds reach neither the cloud's metadata nor the server's own services",
    severity: 'high',
    fix: 'Provision the server again with POST /servers/:id/provision: that installs nftables where it is missing, and loads the rules.',
    judge: ifThere((facts) => {
      if (facts.isAbsent('nft')) return fail('nftables is not installed, so nothing refuses it.');
      if (!hasAppRules(facts)) return fail('The table slipway_apps is not loaded.');
      return facts.lines('boot_units').some((line) => line.startsWith('slipway-app-network.service '))
        ? pass('The table slipway_apps is loaded, at every boot too.')
        : warn(
            'The table slipway_apps is loaded, but slipway-app-network.service would not load it at boot.',
          );
    }),
  },
  {
    id: 'docker_api',
    title: "Docker's control port is not on the network",
    severity: 'critical',
    fix: `Remove every \`tcp://\` from \`hosts\` in ${daemonFile} and from the arguments of dockerd, and restart Docker; use SSH to reach it.`,
    judge: ifThere((facts): RuleVerdict => {
      const { hosts } = daemonSettings(facts);
      const endpoints = [...(Array.isArray(hosts) ? hosts.map(String) : []), ...daemonArguments(facts)];
      const written = endpoints
        .filter((each) => each.includes('tcp://'))
        .map((each) => each.slice(each.indexOf('tcp://')));
      const isApi = ({ port, program }: TcpListener) =>
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
      return open.every(({ address }) => isLoopbackAddress(address)) &&
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
      const { liveRestore, swarm } = daemonInfo(facts);
      if (swarm === 'active')
        return notApplicable('Docker refuses it in a swarm, where another server takes over.');
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

/**
 * The engine for an environment that stands on one server: Docker runs it, HAProxy serves it, systemd's timers start its
 * crons. Owns what each of them is told; refuses what is not of the environment that the target was opened for.
 */
import {
  installCertificate,
  readCertificates,
  removeCertificate,
} from '../../adapters/proxy/certificates.ts';
import { setChallengeThumbprint } from '../../adapters/proxy/challenge.ts';
import { moveServers, removeFront } from '../../adapters/proxy/front-changes.ts';
import { ensureProxy } from '../../adapters/proxy/proxy.ts';
import type { DockerHost } from '../docker-host.ts';
import type { Target } from '../engine.ts';
import { buildImage, removeBuildContext, sendBuildContext, stopBuild } from './build.ts';
import { removeCrons, setCrons } from './crons.ts';
import { inspect, lastLines, listInstances, readImageOf, survey, wasOutOfMemory } from './inspect.ts';
import { cleanUp, removeInstances, startAgain, stopInstances } from './instances.ts';
import {
  applyServices,
  deleteServiceData,
  inspectServices,
  pullImage,
  removeServices,
  stopServices,
} from './services.ts';
import { runReleaseCommand, startProcesses, startWeb, stopReleaseCommand } from './start-release.ts';
import { takeDown } from './take-down.ts';
import {
  drain,
  holdRequests,
  prove,
  refuseRequests,
  removeFromProxy,
  restoreFront,
  switchTo,
} from './traffic.ts';
import { waitForServices } from './wait-for-services.ts';
import { waitHealthy } from './wait-healthy.ts';

/** What a server needs beside Docker before it can be a target. */
export {
  ensureNetworkRules,
  hasNetworkRules,
  removeNetworkRules,
} from '../../adapters/docker/network-rules.ts';
export { ensureProxy, removeProxy } from '../../adapters/proxy/proxy.ts';

export function singleServer(host: DockerHost): Target {
  return {
    placement: host.placement,
    signal: host.signal,
    dataHost: host,
    inspect: (likelyImage) => inspect(host, likelyImage),
    readImage: (id) => readImageOf(host, id),
    instances: () => listInstances(host),
    sendBuildContext: (id, context) => sendBuildContext(host, id, context),
    removeBuildContext: (id) => removeBuildContext(host, id),
    buildImage: (id, build, output) => buildImage(host, id, build, output),
    stopBuild: (id) => stopBuild(host, id),
    startWeb: (start) => startWeb(host, start),
    startProcesses: (start) => startProcesses(host, start),
    waitHealthy: (check) => waitHealthy(host, check),
    runReleaseCommand: (start, command, output) => runReleaseCommand(host, start, command, output),
    stopReleaseCommand: (id) => stopReleaseCommand(host, id),
    // Built here, and nowhere else; and here is where all runs.
    ensureImages: async () => undefined,
    startLost: async () => undefined,
    evenOut: async () => undefined,
    stopInstances: (names, stopSeconds, inProxy) => stopInstances(host, names, stopSeconds, inProxy),
    startAgain: (names, stopSeconds) => startAgain(host, names, stopSeconds),
    removeInstances: (names, stopSeconds) => removeInstances(host, names, stopSeconds),
    cleanUp: (old) => cleanUp(host, old),
    setCrons: (run, deploymentId) => setCrons(host, run, deploymentId),
    removeCrons: () => removeCrons(host),
    takeDown: (options) => takeDown(host, options),
    ensureProxy: () => ensureProxy(host.remote, host.signal),
    prove: (front, endpoints, release) => prove(host, front, endpoints, release),
    switchTo: (front, leaving) => switchTo(host, front, leaving),
    holdRequests: (front) => holdRequests(host, front),
    drain: (names, drainSeconds) => drain(host, names, drainSeconds),
    removeFromProxy: (names) => removeFromProxy(host, names),
    refuseRequests: (front) => refuseRequests(host, front),
    restoreFront: (front) => restoreFront(host, front),
    moveServers: (id, endpoints) => moveServers(host, id, endpoints),
    removeFront: () => removeFront(host, host.placement.environmentId),
    installCertificate: (certificate) => installCertificate(host, certificate),
    readCertificates: () => readCertificates(host),
    removeCertificate: (id) => removeCertificate(host, id),
    setChallengeThumbprint: (thumbprint) => setChallengeThumbprint(host, thumbprint),
    inspectServices: (services) => inspectServices(host, services),
    pullImage: (image, name, log) => pullImage(host, image, name, log),
    applyServices: (services, unwanted) => applyServices(host, services, unwanted),
    waitForServices: (services, withinMs) => waitForServices(host, services, withinMs),
    stopServices: (services) => stopServices(host, services),
    removeServices: (options) => removeServices(host, options),
    deleteServiceData: (ids) => deleteServiceData(host, ids),
    survey: (names) => survey(host, names),
    lastLines: (name, most) => lastLines(host, name, most),
    wasOutOfMemory: (instance) => wasOutOfMemory(host, instance),
  };
}

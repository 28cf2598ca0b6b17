/** Why a build failed, in words that help. */
import { Fault } from '../../fault.ts';
import { isDiskFull } from './ask.ts';
import type { BuildEnd, BuildFailure } from './build-output.ts';

export function buildFault(end: BuildEnd, failure: BuildFailure): Fault {
  const evidence = [...(failure.step ? [failure.step] : []), ...failure.lines, failure.error]
    .filter((line, index, all) => line !== all[index - 1])
    .join('\n')
    .slice(-8_000);
  if (isDiskFull(evidence))
    return new Fault('disk_full', 'The disk of the server was full before the image was built.', {
      hint: 'Free some space on the server, then deploy again.',
      evidence,
    });
  if (isGone(failure))
    return new Fault('remote_failed', 'Docker ended on the server while it was building.', { evidence });
  if (isOutOfMemory(end, evidence))
    return new Fault(
      'build_out_of_memory',
      'The build needed more memory than builds may take on the server.',
      {
        hint: 'Give builds more memory in the settings, take a larger server, or let the build do less at once.',
        evidence,
      },
    );
  const hint = hints.find(({ says }) => says.test(evidence))?.hint ?? usualHint;
  const where = failure.step ? ` Failed: ${failure.step.slice(0, 200)}` : '';
  return new Fault('build_failed', `The image could not be built.${where}`, {
    hint,
    evidence,
  });
}

const usualHint =
  'What the failing step printed is in the evidence. Correct it in the repository, or the commands in the settings, then deploy again.';

/** It was not begun. */
export function buildRefused(why: string, { error, lines }: BuildFailure, dockerfilePath = ''): Fault {
  if (why === 'unguarded')
    return new Fault(
      'build_failed',
      'The server cannot keep a build from its own services, so nothing was built.',
      {
        hint: 'Provision the server again: that installs nftables, which the rules for builds need.',
        evidence: [...lines, error].join('\n').slice(-8_000),
      },
    );
  const [, frontend] = /^frontend (.*)$/.exec(why) ?? [];
  if (frontend !== undefined)
    return new Fault('build_failed', 'The Dockerfile asks for a frontend that Slipway does not run.', {
      hint: 'Its line «# syntax=…» may name docker/dockerfile from version 1.2 on, such as docker/dockerfile:1. Without the line, the frontend of the server’s Docker is used.',
      evidence: `${dockerfilePath}: ${frontend === 'json' ? 'a document in JSON' : `syntax=${frontend}`}`,
    });
  const sentence =
    why === 'outside'
      ? 'The path of the Dockerfile leads out of the repository.'
      : 'The commit has no Dockerfile at the path in the settings.';
  return new Fault('build_failed', sentence, { evidence: dockerfilePath });
}

/**
 * The daemon was stopped, or fell. What a step prints does not count: it may be about any other server. Docker 20.10 has
 * only its own consequences to tell.
 */
function isGone({ step, error }: BuildFailure): boolean {
  const isOver =
    /cannot connect to the docker daemon|error reading from server|code = unavailable|(?:failed to solve:|desc =) database not open$/i;
  if (isOver.test(error)) return true;
  const isTold =
    /unexpected EOF$|error during connect|transport is closing|did not provide an image ID$/i.test(error);
  return step === undefined && isTold;
}

/** 137 is what a shell makes of SIGKILL. Others, like npm, say it in words, and end with a code of their own. */
function isOutOfMemory({ isKilled, memoryHits }: BuildEnd, evidence: string): boolean {
  if (isKilled || /exit code: 137\b|heap out of memory/i.test(evidence)) return true;
  const isSaid =
    /\bkilled\b|SIGKILL|signal 9|cannot allocate memory|out of memory|MemoryError|ENOMEM|bad_alloc/i;
  return memoryHits > 0 && isSaid.test(evidence);
}

/** What npm, apt, curl and Docker print where nobody answered them. */
export const isUnreachable =
  /EAI_AGAIN|ENOTFOUND|ETIMEDOUT|ECONNRE(SET|FUSED)|ERR_SOCKET_TIMEOUT|socket hang up|temporary failure (in name resolution|resolving)|(could not|unable to) (connect|resolve)|network is unreachable|TLS handshake timeout|i\/o timeout|no such host/i;

const hints: readonly { readonly says: RegExp; readonly hint: string }[] = [
  {
    says: /\bslipway(-built)?\/[0-9a-f]{8}-?[0-9a-f]{4}/,
    hint: 'Images that Slipway builds are for their own environment alone: no Dockerfile can use one. Push what is to be shared to a registry.',
  },
  {
    says: /npm ci.{0,40}can only install with an existing|ERR_PNPM_NO_LOCKFILE|Couldn't find a yarn\.lock/is,
    hint: 'The lock file is missing. Commit it, or change the install command to one that needs none.',
  },
  {
    says: /are in sync|ERR_PNPM_OUTDATED_LOCKFILE|lockfile (needs to be updated|would have been modified)|lockfile had changes/i,
    hint: 'The lock file does not fit the package file. Install once on your machine and commit both.',
  },
  {
    says: isUnreachable,
    hint: 'Something could not be downloaded. See whether the server reaches the internet, then deploy again.',
  },
  {
    says: /pull access denied|manifest unknown|failed to resolve source metadata|repository does not exist/i,
    hint: 'An image that the Dockerfile begins with cannot be fetched. See whether its name is right, and public.',
  },
  {
    says: /failed to compute cache key|failed to calculate checksum|: not found$/im,
    hint: 'A file that the Dockerfile copies is not in the commit, or a .dockerignore leaves it out.',
  },
  {
    says: /exit code: 127\b|command not found/i,
    hint: 'A command is not there. Install it in the build, or correct the command in the settings.',
  },
  {
    says: /exec format error/i,
    hint: 'A program or image is made for another processor than that of the server.',
  },
  {
    says: /buildx component is missing|BuildKit is enabled but/i,
    hint: 'Docker on the server lacks BuildKit: install the package docker-buildx or docker-buildx-plugin.',
  },
  { says: /dockerfile parse error|unknown instruction/i, hint: 'The Dockerfile has a mistake in it.' },
];

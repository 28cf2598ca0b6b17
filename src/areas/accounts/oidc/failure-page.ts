/**
 * What a browser shows where it was sent to a provider and back, and something went wrong: there is no program in between
 * that could show the problem. Made of the fault and not of the address, or a link could have us say anything.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Fault } from '../../../fault.ts';
import { sendError } from '../../../http/errors.ts';
import type { Problem } from '../../../http/problem.ts';
import { wantsPage, webPage } from '../../../http/web-pages.ts';
import { escapeHtml } from '../mail-texts.ts';

/** The reason is for whoever runs the service: what the provider sent is not shown to whoever signs in. */
export function sendFailure(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (error instanceof Fault && error.code.startsWith('oidc_'))
    request.log.info(
      { requestId: request.id, fault: error.code, evidence: error.evidence },
      'sign-in by OpenID Connect refused',
    );
  reply.header('vary', 'accept');
  sendError(
    error,
    request,
    reply,
    wantsPage(request) ? (problem) => webPage(reply, pageOf(problem)) : undefined,
  );
}

function pageOf({ detail, hint, requestId }: Problem): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Not signed in · Slipway</title>
<link rel="stylesheet" href="/home.css">
</head>
<body>
<main>
<h1>Not signed in</h1>
<p>${escapeHtml(detail)}</p>
${hint === undefined ? '' : `<p>${escapeHtml(hint)}</p>`}
<p><a href="/">Back</a></p>
<p><small>Request ${escapeHtml(requestId)}</small></p>
</main>
</body>
</html>
`;
}

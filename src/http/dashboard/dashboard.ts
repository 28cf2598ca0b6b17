/**
 * The dashboard's files. A client of the API like any other: it is given nothing here but its own page and scripts, and
 * every path that is no one else's answers with that page, so that a link to any place in it works.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Fault } from '../../fault.ts';
import { sendAsset } from '../assets.ts';
import type { HttpServer } from '../server.ts';
import { pageOptions, wantsPage } from '../web-pages.ts';
import { assetsPath, bundleDashboard } from './bundle.ts';
import { dashboardPolicy } from './page.ts';

/** Paths of programs: what is not there is told to them as a problem, whoever asks. */
const ofPrograms = /^\/(api|assets|healthz|readyz|metrics)(\/|\?|$)/;

export function dashboardRoutes(app: HttpServer): void {
  app.get<{ Params: { name: string } }>(`${assetsPath}:name`, pageOptions, async (request, reply) => {
    const asset = (await bundleDashboard()).assets.get(request.params.name);
    if (!asset) throw new Fault('not_found', 'There is no such file.');
    return sendAsset(request, reply, asset);
  });
}

export async function sendDashboard(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { page } = await bundleDashboard();
  reply.headers({
    'content-security-policy': dashboardPolicy,
    'cross-origin-opener-policy': 'same-origin',
    vary: 'accept',
  });
  return sendAsset(request, reply, page);
}

/** Whether it is a person, with a browser, who looks for a page. */
export function wantsDashboard(request: FastifyRequest): boolean {
  const { method, url } = request;
  return (method === 'GET' || method === 'HEAD') && !ofPrograms.test(url) && wantsPage(request);
}

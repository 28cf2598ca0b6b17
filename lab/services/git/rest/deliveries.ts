/** The record of what a hook was sent. */

import { deliveryItem, deliveryView } from '../views/hooks.ts';
import type { Delivery } from '../webhooks/delivery-store.ts';
import { notFound, ok } from './answers.ts';
import { hookAt } from './hooks.ts';
import { forWriters, param, type RepositoryCall } from './operation.ts';
import { addressWith, pageOf } from './paging.ts';

const path = '/repos/{owner}/{repo}/hooks/{hook_id}/deliveries';
const toRead = ['read:repo_hook', 'public_repo', 'repo'];
const toWrite = ['write:repo_hook', 'public_repo', 'repo'];

export const deliveryOperations = [
  forWriters(
    {
      id: 'repos/redeliver-webhook-delivery',
      method: 'POST',
      path: `${path}/{delivery_id}/attempts`,
      scopes: toWrite,
    },
    (call) => {
      call.webhooks.redeliver(hookAt(call), deliveryAt(call));
      return { status: 202, json: {} };
    },
  ),

  forWriters(
    { id: 'repos/get-webhook-delivery', method: 'GET', path: `${path}/{delivery_id}`, scopes: toRead },
    (call) => ok(deliveryView(deliveryAt(call))),
  ),

  forWriters({ id: 'repos/list-webhook-deliveries', method: 'GET', path, scopes: toRead }, (call) => {
    const { url, webhooks } = call;
    const cursor = Number(url.searchParams.get('cursor') ?? Number.POSITIVE_INFINITY);
    const wanted = url.searchParams.get('status');
    const { size } = pageOf(call);
    const found = webhooks.deliveries
      .list(hookAt(call).id)
      .filter((delivery) => wanted === null || (delivery.status === 'OK') === (wanted === 'success'))
      .filter(({ id }) => id <= cursor);
    // The pages go on from a delivery and not from a count: new ones come in at the front.
    const next = found[size];
    const link = next && `<${addressWith(call, { cursor: String(next.id) })}>; rel="next"`;
    return ok(found.slice(0, size).map(deliveryItem), link ? { Link: link } : {});
  }),
];

function deliveryAt(call: RepositoryCall): Delivery {
  const delivery = call.webhooks.deliveries.find(hookAt(call).id, Number(param(call, 'delivery_id')));
  if (!delivery) throw notFound();
  return delivery;
}

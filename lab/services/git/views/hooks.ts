/** Hooks and their deliveries as GitHub writes them. The secret is never said again. */
import type { Hook, Repository } from '../state.ts';
import type { Delivery } from '../webhooks/delivery-store.ts';
import type { Urls } from './urls.ts';

export function hookView(hook: Hook, repository: Repository, urls: Urls) {
  const url = `${urls.apiOf(repository)}/hooks/${hook.id}`;
  return {
    type: 'Repository',
    id: hook.id,
    name: 'web',
    active: hook.active,
    events: hook.events,
    config: {
      content_type: hook.contentType,
      insecure_ssl: hook.insecureSsl ? '1' : '0',
      ...(hook.secret === null ? {} : { secret: '********' }),
      url: hook.url,
    },
    updated_at: hook.updatedAt,
    created_at: hook.createdAt,
    url,
    test_url: `${url}/tests`,
    ping_url: `${url}/pings`,
    deliveries_url: `${url}/deliveries`,
    last_response: hook.lastResponse,
  };
}

export function deliveryItem(delivery: Delivery) {
  return {
    id: delivery.id,
    guid: delivery.guid,
    delivered_at: delivery.deliveredAt,
    redelivery: delivery.redelivery,
    duration: delivery.seconds,
    status: delivery.status,
    status_code: delivery.statusCode,
    event: delivery.event,
    action: null,
    installation_id: null,
    repository_id: delivery.repositoryId,
    throttled_at: null,
  };
}

export function deliveryView(delivery: Delivery) {
  return {
    ...deliveryItem(delivery),
    url: delivery.url,
    request: { headers: delivery.request.headers, payload: delivery.request.payload },
    response: { headers: delivery.response.headers, payload: delivery.response.payload },
  };
}

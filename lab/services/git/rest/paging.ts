/** Pages of a list, and the `Link` header that names the others. */
import { type Answer, ok } from './answers.ts';
import type { Call } from './operation.ts';

export interface Page {
  readonly number: number;
  readonly size: number;
  /** How many items lie before it. */
  readonly skip: number;
}

/** What makes no sense is read as the default, as GitHub does. */
export function pageOf(call: Call, usual = 30, most = 100): Page {
  const wanted = Number.parseInt(call.url.searchParams.get('per_page') ?? '', 10);
  const size = wanted > 0 ? Math.min(wanted, most) : usual;
  const number = Math.max(1, Number.parseInt(call.url.searchParams.get('page') ?? '', 10) || 1);
  return { number, size, skip: (number - 1) * size };
}

export function pageAnswer<T>(call: Call, all: readonly T[], view: (item: T) => unknown): Answer {
  const page = pageOf(call);
  const items = all.slice(page.skip, page.skip + page.size).map(view);
  return ok(items, linkHeader(call, page, all.length));
}

export function linkHeader(call: Call, page: Page, total: number): Record<string, string> {
  const last = Math.ceil(total / page.size);
  const links: string[] = [];
  const add = (number: number, rel: string) =>
    links.push(`<${addressWith(call, { page: String(number) })}>; rel="${rel}"`);
  if (page.number > 1) add(Math.min(page.number - 1, Math.max(1, last)), 'prev');
  if (page.number < last) {
    add(page.number + 1, 'next');
    add(last, 'last');
  }
  if (page.number > 1) add(1, 'first');
  return links.length > 0 ? { Link: links.join(', ') } : {};
}

export function addressWith(call: Call, changed: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(call.url.searchParams);
  for (const [name, value] of Object.entries(changed)) query.set(name, value);
  return `${call.urls.base}${call.linkPath}?${query}`;
}

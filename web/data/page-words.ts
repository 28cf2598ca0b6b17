/**
 * What helps, for a reader of pages. The service names the calls by which something is done; on a page there is a button for it,
 * so the call is left out, and where one says something, the page that shows the same is named.
 */

const call = String.raw`(?:GET|POST|PUT|PATCH|DELETE) /[\w:/?=&-]*[\w=]`;
const byCall = new RegExp(`,? with ${call}`, 'g');
const namedCall = new RegExp(call, 'g');

const pages: Readonly<Record<string, string>> = {
  'GET /clusters/:id': 'the page of the cluster',
  'GET /domains': 'the page of domains',
  'GET /environments': 'the overview',
  'GET /environments/:id/domains': 'the page of the environment',
  'GET /operations': 'the page of the server',
  'GET /projects': 'the overview',
  'GET /servers': 'the page of servers',
  'GET /servers/:id': 'the page of the server',
  'GET /auth/second-factors': 'your profile',
};

export function inPages(hint: string): string {
  return hint
    .replaceAll(byCall, '')
    .replaceAll(namedCall, (named) => pages[named] ?? named)
    .replaceAll(/(?<=^|[.!] )[a-z]/g, (letter) => letter.toUpperCase());
}

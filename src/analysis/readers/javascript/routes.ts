/** Paths that code answers for the health of the app, registered as a literal. */
import type { Route } from '../source-facts.ts';
import type { FileScope } from './scope.ts';
import {
  calledName,
  child,
  dotted,
  literal,
  type Node,
  type NodePlace,
  nodes,
  propertyKey,
  unwrapped,
} from './syntax.ts';

type Found = Omit<Route, 'line'> & { readonly start: number };

export const healthPath =
  /^(?:\/(?:api|_|v\d|internal|system|actuator|monitoring))*\/(?:health[-_]?(?:z|check)?s?|healthz|livez|readyz|live|liveness|ready|readiness|up|ping|_health|status|alive|heartbeat)(?:\/(?:live|ready|liveness|readiness))?\/?$/i;

const methods = new Set(['get', 'all', 'use', 'head', 'on', 'route']);

export function routes(places: readonly NodePlace[], scope: FileScope): Found[] {
  const found = places.flatMap(({ node }): Found[] => {
    if (node.type === 'CallExpression') return registered(node, scope);
    return node.type === 'ClassDeclaration' || node.type === 'ClassExpression' ? controller(node) : [];
  });
  return found.filter(({ path }) => healthPath.test(path));
}

function registered(node: Node, scope: FileScope): Found[] {
  const name = calledName(node) ?? '';
  if (!methods.has(name)) return [];
  const callee = unwrapped(child(node, 'callee'));
  const owner = dotted(child(callee, 'object')) ?? '';
  // A router's paths hang under a prefix that stands elsewhere.
  const made = scope.values.get(owner);
  const isRouter = /rout(?:er|es)$/i.test(owner) || (made !== undefined && calledName(made) === 'Router');
  if (isRouter || callee?.type !== 'MemberExpression') return [];
  const [first, second] = nodes(node.arguments);
  const path = name === 'on' ? literal(second) : (literal(first) ?? urlOf(first));
  const isHandled = nodes(node.arguments).length > 1 || name === 'route';
  return path?.startsWith('/') && isHandled ? [{ path, start: node.start }] : [];
}

/** `fastify.route({ method: 'GET', url: '/health' })`. */
function urlOf(node: Node | undefined): string | undefined {
  if (node?.type !== 'ObjectExpression') return undefined;
  const property = nodes(node.properties).find((each) => ['url', 'path'].includes(propertyKey(each) ?? ''));
  return property ? literal(child(property, 'value')) : undefined;
}

/** `@Controller('health')` with `@Get()` in it. */
function controller(node: Node): Found[] {
  const base = decorated(node, 'Controller');
  if (base === undefined) return [];
  return nodes(child(node, 'body')?.body).flatMap((member): Found[] => {
    const path = decorated(member, 'Get');
    if (path === undefined) return [];
    const whole = [base, path].flatMap((part) => part.split('/')).filter((part) => part !== '');
    return [{ path: `/${whole.join('/')}`, isController: true, start: member.start }];
  });
}

function decorated(node: Node, name: string): string | undefined {
  for (const decorator of nodes(node.decorators)) {
    const call = unwrapped(child(decorator, 'expression'));
    if (call?.type === 'CallExpression' && calledName(call) === name)
      return literal(nodes(call.arguments)[0]) ?? '';
  }
  return undefined;
}

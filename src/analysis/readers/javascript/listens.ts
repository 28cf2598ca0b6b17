/** On which port code listens, and which variable comes before the number. */
import type { Listen } from '../source-facts.ts';
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
  propertyName,
  unwrapped,
} from './syntax.ts';

type Found = Omit<Listen, 'line'> & { readonly start: number };
type Port = Omit<Listen, 'line'>;

const listening = new Set([
  'listen',
  'serve',
  'server',
  'Server',
  'startStandaloneServer',
  'start',
  'run',
  'startServer',
]);

export function listens(places: readonly NodePlace[], scope: FileScope): Found[] {
  return places.flatMap(({ node }) => {
    if (node.type === 'ExportDefaultDeclaration') return bunServer(node, scope);
    if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return [];
    const name = calledName(node) ?? '';
    if (!listening.has(name)) return [];
    const given = nodes(node.arguments);
    const isPlain = name === 'listen' || name === 'start' || name === 'run';
    const direct = isPlain && given[0] && !isSocket(node) ? portOf(given[0], scope) : undefined;
    const port = direct ?? given.map((each) => portIn(each, scope)).find((each) => each !== undefined);
    return port ? [{ ...port, start: node.start }] : [];
  });
}

/** `export default { port: 3000, fetch }`: Bun serves it. */
function bunServer(node: Node, scope: FileScope): Found[] {
  const object = resolved(child(node, 'declaration'), scope);
  if (object?.type !== 'ObjectExpression') return [];
  const keys = nodes(object.properties).map(propertyKey);
  if (!keys.includes('fetch')) return [];
  const port = portIn(object, scope);
  return port ? [{ ...port, start: node.start }] : [];
}

/** `socket.listen` of a client, `window.listen`: not servers. */
function isSocket(node: Node): boolean {
  return /^(?:emitter|events|history|window|bus)\./.test(dotted(child(node, 'callee')) ?? '');
}

/** `{port: …}` or `{listen: {port: …}}`. */
function portIn(node: Node, scope: FileScope): Port | undefined {
  const object = resolved(node, scope);
  if (object?.type !== 'ObjectExpression') return undefined;
  for (const property of nodes(object.properties)) {
    const key = propertyKey(property);
    const value = child(property, 'value');
    if (key === 'port' && value) return portOf(value, scope);
    if (key === 'listen' && value) return portIn(value, scope);
  }
  return undefined;
}

function resolved(node: Node | undefined, scope: FileScope): Node | undefined {
  const at = unwrapped(node);
  return at?.type === 'Identifier' ? unwrapped(scope.values.get(String(at.name))) : at;
}

export function portOf(node: Node | undefined, scope: FileScope, depth = 0): Port | undefined {
  const at = unwrapped(node);
  if (!at || depth > 8) return undefined;
  const inner = (field: string) => portOf(child(at, field), scope, depth + 1);
  switch (at.type) {
    case 'Literal':
    case 'TemplateLiteral':
      return number(at.type === 'Literal' && typeof at.value === 'number' ? at.value : literal(at));
    case 'LogicalExpression':
    case 'BinaryExpression':
      return both(inner('left'), inner('right'));
    case 'ConditionalExpression':
      return both(inner('consequent'), inner('alternate'));
    case 'UnaryExpression':
      return inner('argument');
    case 'Identifier':
      return ofName(String(at.name), scope, depth);
    case 'MemberExpression':
      return ofMember(at, scope, depth);
    case 'CallExpression':
      return ofCall(at, scope, depth);
    default:
      return undefined;
  }
}

function number(value: unknown): Port | undefined {
  const port = typeof value === 'string' && /^\d{2,5}$/.test(value) ? Number(value) : value;
  return typeof port === 'number' && Number.isInteger(port) && port > 0 && port < 65_536
    ? { port, variable: null }
    : undefined;
}

function both(one: Port | undefined, other: Port | undefined): Port | undefined {
  if (!one || !other) return one ?? other;
  return { port: one.port ?? other.port, variable: one.variable ?? other.variable };
}

function ofName(name: string, scope: FileScope, depth: number): Port | undefined {
  const fallback = scope.defaults.get(name);
  if (fallback) return both({ port: null, variable: name }, portOf(fallback, scope, depth + 1));
  const value = scope.values.get(name);
  if (value) return portOf(value, scope, depth + 1);
  return /port/i.test(name) ? { port: null, variable: name === name.toUpperCase() ? name : null } : undefined;
}

/** `process.env.PORT`, `env.PORT`, `config.port`. */
function ofMember(node: Node, scope: FileScope, depth: number): Port | undefined {
  const name = propertyName(node);
  const object = resolved(child(node, 'object'), scope);
  if (object?.type === 'ObjectExpression') {
    const property = nodes(object.properties).find((each) => propertyKey(each) === name);
    if (property) return portOf(child(property, 'value'), scope, depth + 1);
  }
  if (name === undefined || !/port/i.test(name)) return undefined;
  return { port: null, variable: name === name.toUpperCase() ? name : null };
}

/** `Number(…)`, `parseInt(…)`, `normalizePort(…)`, `Deno.env.get('PORT')`, `app.get('port')`. */
function ofCall(node: Node, scope: FileScope, depth: number): Port | undefined {
  const [first, second] = nodes(node.arguments);
  const key = literal(first);
  if (key === undefined || /^\d+$/.test(key)) return first ? portOf(first, scope, depth + 1) : undefined;
  const setting = scope.settings.get(key);
  if (setting) return portOf(setting, scope, depth + 1);
  if (!/port/i.test(key)) return undefined;
  const variable = key === key.toUpperCase() ? key : null;
  return both({ port: null, variable }, second ? portOf(second, scope, depth + 1) : undefined);
}

/** Where code reads the environment, and what happens when the variable is not there. */
import type { EnvRead } from '../source-facts.ts';
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

type Read = Omit<EnvRead, 'line'> & { readonly start: number };

const keyForm = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const shouted = /^[A-Z][A-Z0-9_]{2,127}$/;
/** Put in by Vite and Astro themselves. */
const builtIn = new Set(['MODE', 'BASE_URL', 'PROD', 'DEV', 'SSR', 'SITE', 'ASSETS_PREFIX', 'LEGACY']);
const conversions = new Set([
  'Number',
  'parseInt',
  'parseFloat',
  'String',
  'Boolean',
  'JSON.parse',
  'Number.parseInt',
]);

export function envReads(places: readonly NodePlace[], scope: FileScope): Read[] {
  return places.flatMap((place) => readsAt(place, scope));
}

function readsAt(place: NodePlace, scope: FileScope): readonly Read[] {
  const { node } = place;
  switch (node.type) {
    case 'MemberExpression':
      return memberRead(place, scope);
    case 'CallExpression':
      return callRead(place, scope);
    case 'VariableDeclarator':
      return patternReads(child(node, 'id'), viaOf(unwrapped(child(node, 'init')), scope));
    case 'ImportDeclaration':
      return importReads(node);
    default:
      return [];
  }
}

function viaOf(node: Node | undefined, scope: FileScope): 'process' | 'meta' | undefined {
  const name = dotted(node);
  if (name === undefined) return undefined;
  if (/^(?:(?:globalThis|global|window)\.)?process\.env$/.test(name) || name === 'Bun.env') return 'process';
  if (name === 'import.meta.env') return 'meta';
  const from = scope.modules.get(name);
  if (name === 'env' && (from === '$env/dynamic/private' || from === '$env/dynamic/public')) return 'process';
  return name === 'env' && (from === 'process' || from === 'node:process') ? 'process' : undefined;
}

function memberRead(place: NodePlace, scope: FileScope): readonly Read[] {
  const { node } = place;
  const via = viaOf(unwrapped(child(node, 'object')), scope);
  if (!via || isWritten(place)) return [];
  const property = child(node, 'property');
  const key = node.computed === true ? literal(property) : property?.name;
  if (typeof key !== 'string' || !keyForm.test(key) || (via === 'meta' && builtIn.has(key))) return [];
  return [{ key, via, start: node.start, ...whenAbsent(place) }];
}

function isWritten({ parent, field }: NodePlace): boolean {
  return parent?.node.type === 'AssignmentExpression' && field === 'left' && parent.node.operator === '=';
}

/** `Deno.env.get('X')`, `config.get('X')`, `env('X', 'default')`, `requireEnv('X')`. */
function callRead(place: NodePlace, scope: FileScope): readonly Read[] {
  const { node } = place;
  const [first, second] = nodes(node.arguments);
  const key = literal(first);
  if (key === undefined || !shouted.test(key)) return [];
  const name = calledName(node) ?? '';
  const whole = dotted(child(node, 'callee')) ?? name;
  const owner = whole.split('.').at(-2) ?? '';
  const isGet =
    /^(?:get|getOrThrow|require|string|int|bool|array|number|float|json)$/.test(name) &&
    /env|config/i.test(owner);
  const isFunction = /env/i.test(name) && !/^(?:load|set|delete|has)/i.test(name);
  if (!isGet && !isFunction) return [];
  if (scope.modules.get(whole.split('.')[0] ?? '')?.includes('storybook')) return [];
  const value = second ? plainText(second) : undefined;
  if (value !== undefined)
    return [{ key, via: 'process', start: node.start, default: value, required: false }];
  const isStrict = name === 'getOrThrow' || /require|must|assert/i.test(name);
  const absent = whenAbsent(place);
  return [{ key, via: 'process', start: node.start, ...(isStrict ? { required: true } : absent) }];
}

function patternReads(pattern: Node | undefined, via: 'process' | 'meta' | undefined): readonly Read[] {
  if (pattern?.type !== 'ObjectPattern' || !via) return [];
  return nodes(pattern.properties).flatMap((property) => {
    const key = propertyKey(property);
    if (key === undefined || !keyForm.test(key) || builtIn.has(key)) return [];
    const value = child(property, 'value');
    if (value?.type !== 'AssignmentPattern') return [{ key, via, start: property.start }];
    const fallback = plainText(child(value, 'right'));
    return [
      {
        key,
        via,
        start: property.start,
        required: false,
        ...(fallback === undefined ? {} : { default: fallback }),
      },
    ];
  });
}

/** SvelteKit and Astro give each variable as an export of a module of theirs. */
function importReads(node: Node): readonly Read[] {
  const from = literal(child(node, 'source')) ?? '';
  if (!/^(?:\$env\/static\/(?:private|public)|astro:env\/(?:server|client))$/.test(from)) return [];
  return nodes(node.specifiers).flatMap((specifier): Read[] => {
    const key = child(specifier, 'imported')?.name;
    if (typeof key !== 'string' || !shouted.test(key)) return [];
    const via = from.startsWith('$env') ? 'meta' : 'process';
    return [{ key, via, start: node.start, required: from.startsWith('$env') }];
  });
}

/** What the code around a read does when there is nothing. */
function whenAbsent(place: NodePlace): { default?: string; required?: boolean } {
  let at = place;
  for (let steps = 0; at.parent && steps < 12; steps += 1) {
    const { node } = at.parent;
    if (node.type === 'TSNonNullExpression') return { required: true };
    if (node.type === 'LogicalExpression') {
      if (at.field === 'right') return { required: false };
      if (node.operator === '&&') return { required: false };
      const value = plainText(child(node, 'right'));
      if (value !== undefined) return { required: false, default: value };
      return isThrowing(child(node, 'right')) ? { required: true } : { required: false };
    }
    if (node.type === 'MemberExpression' && at.field === 'object') {
      // `env.get('X').required()` of env-var; `?.` copes with absence.
      if (node.optional === true) return { required: false };
      const called = child(node, 'property')?.name;
      if (called === 'required') return { required: true };
      if (called === 'default') {
        const value = at.parent.parent ? plainText(nodes(at.parent.parent.node.arguments)[0]) : undefined;
        return { required: false, ...(value === undefined ? {} : { default: value }) };
      }
    }
    if (isTest(node, at.field))
      return { required: node.type === 'IfStatement' && isThrowing(child(node, 'consequent')) };
    if (node.type === 'BinaryExpression') return { required: false };
    if (!passesOn(node)) return {};
    at = at.parent;
  }
  return {};
}

function isTest(node: Node, field: string): boolean {
  return field === 'test' && (node.type === 'IfStatement' || node.type === 'ConditionalExpression');
}

/** The value of the read is still the value here, or its negation. */
function passesOn(node: Node): boolean {
  if (node.type === 'CallExpression')
    return conversions.has(dotted(child(node, 'callee')) ?? '') || calledName(node) === 'required';
  return [
    'ParenthesizedExpression',
    'TSAsExpression',
    'UnaryExpression',
    'ChainExpression',
    'MemberExpression',
  ].includes(node.type);
}

function isThrowing(node: Node | undefined): boolean {
  const body = node?.type === 'BlockStatement' ? nodes(node.body) : node ? [node] : [];
  return body.some((each) => {
    if (each.type === 'ThrowStatement') return true;
    const call = each.type === 'ExpressionStatement' ? unwrapped(child(each, 'expression')) : unwrapped(each);
    const isCall = call?.type === 'CallExpression';
    return (
      isCall &&
      /^(?:process\.exit|Deno\.exit|fail|invariant|raise|throwError)$/.test(
        dotted(child(call, 'callee')) ?? '',
      )
    );
  });
}

export function plainText(node: Node | undefined): string | undefined {
  const at = unwrapped(node);
  const text = literal(at);
  if (text !== undefined) return text;
  if (at?.type === 'Literal' && (typeof at.value === 'number' || typeof at.value === 'boolean'))
    return String(at.value);
  return undefined;
}

/** The parsed file as a plain tree of nodes, walked without recursion: foreign code may be nested without end. */

export interface Node {
  readonly type: string;
  readonly start: number;
  readonly [field: string]: unknown;
}

/** A node with those around it. */
export interface NodePlace {
  readonly node: Node;
  readonly parent: NodePlace | null;
  /** Field of the parent in which the node stands. */
  readonly field: string;
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

export function nodes(value: unknown): readonly Node[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}

export function child(node: Node | undefined, field: string): Node | undefined {
  const value = node?.[field];
  return isNode(value) ? value : undefined;
}

/** Every node of the tree, in the order of the text. */
export function* walk(root: Node): Generator<NodePlace> {
  const open: NodePlace[] = [{ node: root, parent: null, field: '' }];
  for (let place = open.pop(); place; place = open.pop()) {
    yield place;
    const inner: NodePlace[] = [];
    for (const field in place.node) {
      const value = place.node[field];
      if (Array.isArray(value)) {
        for (const each of value) if (isNode(each)) inner.push({ node: each, parent: place, field });
      } else if (isNode(value)) inner.push({ node: value, parent: place, field });
    }
    for (let at = inner.length - 1; at >= 0; at -= 1) {
      const each = inner[at];
      if (each) open.push(each);
    }
  }
}

const wrappers = new Set([
  'ParenthesizedExpression',
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'TSTypeAssertion',
  'ChainExpression',
  'AwaitExpression',
]);

/** Without parentheses, casts and `await`. */
export function unwrapped(node: Node | undefined): Node | undefined {
  let at = node;
  for (let steps = 0; at && wrappers.has(at.type) && steps < 100; steps += 1)
    at = child(at, at.type === 'AwaitExpression' ? 'argument' : 'expression');
  return at;
}

/** `a`, `a.b` or `a.b.c` of plain names; `process`, `import.meta` and `this` are names here too. */
export function dotted(node: Node | undefined): string | undefined {
  const parts: string[] = [];
  let at = unwrapped(node);
  for (let steps = 0; at && steps < 6; steps += 1) {
    if (at.type === 'MemberExpression') {
      const name = propertyName(at);
      if (name === undefined) return undefined;
      parts.unshift(name);
      at = unwrapped(child(at, 'object'));
      continue;
    }
    if (at.type === 'Identifier' && typeof at.name === 'string') return [at.name, ...parts].join('.');
    if (at.type === 'MetaProperty') return ['import.meta', ...parts].join('.');
    if (at.type === 'ThisExpression') return ['this', ...parts].join('.');
    return undefined;
  }
  return undefined;
}

/** Of `a.b` and `a['b']`. */
export function propertyName(member: Node): string | undefined {
  const property = child(member, 'property');
  if (member.computed === true) return literal(property);
  return typeof property?.name === 'string' ? property.name : undefined;
}

/** The name by which something is called: `listen` of `a.b.listen(…)`, `serve` of `serve(…)`. */
export function calledName(call: Node): string | undefined {
  const callee = unwrapped(child(call, 'callee'));
  if (callee?.type === 'MemberExpression') return propertyName(callee);
  return callee?.type === 'Identifier' && typeof callee.name === 'string' ? callee.name : undefined;
}

/** A text that stands there as it is. */
export function literal(node: Node | undefined): string | undefined {
  const at = unwrapped(node);
  if (at?.type === 'Literal' && typeof at.value === 'string') return at.value;
  if (at?.type !== 'TemplateLiteral' || nodes(at.expressions).length > 0) return undefined;
  const [quasi] = nodes(at.quasis);
  const value = quasi?.value;
  return typeof value === 'object' && value !== null && 'cooked' in value && typeof value.cooked === 'string'
    ? value.cooked
    : undefined;
}

/** The key of a property of an object or a pattern. */
export function propertyKey(property: Node): string | undefined {
  const key = child(property, 'key');
  if (property.computed === true) return literal(key);
  if (key?.type === 'Identifier' && typeof key.name === 'string') return key.name;
  return literal(key) ?? (typeof key?.value === 'number' ? String(key.value) : undefined);
}

/** What the names of one file stand for, as far as one assignment tells it. */
import { child, literal, type Node, type NodePlace, nodes, propertyKey, unwrapped } from './syntax.ts';

export interface FileScope {
  /** `const a = …` by name; the first of a name counts. */
  readonly values: ReadonlyMap<string, Node>;
  /** `import a from 'm'`, `const {a} = require('m')` by local name. */
  readonly modules: ReadonlyMap<string, string>;
  /** `app.set('port', …)` by key. */
  readonly settings: ReadonlyMap<string, Node>;
  /** `const {PORT = 3000} = process.env`: the default by local name. */
  readonly defaults: ReadonlyMap<string, Node>;
}

export function fileScopeOf(places: readonly NodePlace[]): FileScope {
  const values = new Map<string, Node>();
  const modules = new Map<string, string>();
  const settings = new Map<string, Node>();
  const defaults = new Map<string, Node>();
  for (const { node } of places) {
    if (node.type === 'ImportDeclaration') {
      const from = literal(child(node, 'source'));
      for (const specifier of nodes(node.specifiers)) {
        const local = child(specifier, 'local')?.name;
        if (from !== undefined && typeof local === 'string') modules.set(local, from);
      }
    }
    if (node.type === 'VariableDeclarator') declare(node, values, modules, defaults);
    if (node.type === 'CallExpression') {
      const [key, value] = nodes(node.arguments);
      const property = child(unwrapped(child(node, 'callee')), 'property');
      const name = literal(key);
      if (property?.name === 'set' && name !== undefined && value && !settings.has(name))
        settings.set(name, value);
    }
  }
  return { values, modules, settings, defaults };
}

function declare(
  declarator: Node,
  values: Map<string, Node>,
  modules: Map<string, string>,
  defaults: Map<string, Node>,
): void {
  const id = child(declarator, 'id');
  const init = unwrapped(child(declarator, 'init'));
  const module = requiredModule(init);
  if (id?.type === 'Identifier' && typeof id.name === 'string') {
    if (module !== undefined) modules.set(id.name, module);
    else if (init && !values.has(id.name)) values.set(id.name, init);
  }
  if (id?.type !== 'ObjectPattern') return;
  for (const property of nodes(id.properties)) {
    const value = child(property, 'value');
    const name = value?.type === 'AssignmentPattern' ? child(value, 'left')?.name : value?.name;
    if (typeof name !== 'string') continue;
    if (module !== undefined) modules.set(name, module);
    const fallback = value?.type === 'AssignmentPattern' ? child(value, 'right') : undefined;
    if (fallback && propertyKey(property) !== undefined && !defaults.has(name)) defaults.set(name, fallback);
  }
}

function requiredModule(node: Node | undefined): string | undefined {
  if (node?.type !== 'CallExpression') return undefined;
  const callee = child(node, 'callee');
  return callee?.type === 'Identifier' && callee.name === 'require'
    ? literal(nodes(node.arguments)[0])
    : undefined;
}

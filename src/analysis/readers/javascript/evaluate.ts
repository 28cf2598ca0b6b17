/**
 * Configuration in code, as data: objects, lists and texts are taken as they stand, a call that wraps an object
 * (`defineConfig({…})`) is the object, any other call is kept by its name. Nothing is run; what cannot be told without
 * running is `undefined`.
 */
import type { FileScope } from './scope.ts';
import { calledName, child, dotted, literal, type Node, nodes, propertyKey, unwrapped } from './syntax.ts';

/** `adapter: node({out: 'x'})`. */
export interface KeptCall {
  readonly $call: string;
  readonly $from: string | null;
  readonly $arguments: readonly unknown[];
}

const deepest = 12;
const mostSteps = 20_000;

export class Evaluator {
  readonly #scope: FileScope;
  #steps = 0;

  constructor(scope: FileScope) {
    this.#scope = scope;
  }

  data(node: Node | undefined, depth = 0): unknown {
    const at = unwrapped(node);
    this.#steps += 1;
    if (!at || depth > deepest || this.#steps > mostSteps) return undefined;
    switch (at.type) {
      case 'Literal':
        return typeof at.value === 'object' ? null : at.value;
      case 'TemplateLiteral':
        return literal(at);
      case 'UnaryExpression':
        return this.#unary(at, depth);
      case 'ObjectExpression':
        return this.#object(at, depth);
      case 'ArrayExpression':
        return nodes(at.elements).map((each) => this.data(each, depth + 1));
      case 'Identifier':
        return this.#name(at, depth);
      case 'LogicalExpression':
        return this.data(child(at, 'left'), depth + 1) ?? this.data(child(at, 'right'), depth + 1);
      case 'ConditionalExpression':
        return this.data(child(at, 'consequent'), depth + 1) ?? this.data(child(at, 'alternate'), depth + 1);
      case 'CallExpression':
      case 'NewExpression':
        return this.#call(at, depth);
      case 'ArrowFunctionExpression':
      case 'FunctionExpression':
      case 'FunctionDeclaration':
        return this.#returned(at, depth);
      default:
        return undefined;
    }
  }

  #unary(node: Node, depth: number): unknown {
    const value = this.data(child(node, 'argument'), depth + 1);
    if (node.operator === '!' && value !== undefined) return !value;
    return node.operator === '-' && typeof value === 'number' ? -value : undefined;
  }

  #object(node: Node, depth: number): unknown {
    const entries: [string, unknown][] = [];
    for (const property of nodes(node.properties)) {
      if (property.type === 'SpreadElement') {
        const value = this.data(child(property, 'argument'), depth + 1);
        if (typeof value === 'object' && value !== null && !Array.isArray(value))
          entries.push(...Object.entries(value));
        continue;
      }
      const key = propertyKey(property);
      if (key !== undefined) entries.push([key, this.data(child(property, 'value'), depth + 1)]);
    }
    return Object.fromEntries(entries);
  }

  #name(node: Node, depth: number): unknown {
    const name = String(node.name);
    if (name === 'undefined') return undefined;
    const value = this.#scope.values.get(name);
    return value ? this.data(value, depth + 1) : undefined;
  }

  #call(node: Node, depth: number): unknown {
    const name = calledName(node) ?? '';
    const given = nodes(node.arguments);
    const whole = dotted(child(node, 'callee')) ?? name;
    if (/^(?:path\.)?(?:resolve|join)$/.test(whole)) return this.#path(given, depth);
    if (name === 'fileURLToPath' || name === 'URL') return this.data(given[0], depth + 1);
    const $arguments = given.map((each) => this.data(each, depth + 1));
    const isWrapper =
      /^(?:define|with|merge|create|compose|wrap|config|next|bundle)/i.test(name) || name === 'env';
    const object = $arguments.find((each) => typeof each === 'object' && each !== null);
    if (isWrapper && object !== undefined && node.type === 'CallExpression')
      return Object.assign({}, ...$arguments.filter(isPlain));
    // `withBundle({…})(config)`: the outer call has the object.
    if (calledName(node) === undefined && object !== undefined) return object;
    const $from = this.#scope.modules.get(whole.split('.')[0] ?? '') ?? null;
    return { $call: name, $from, $arguments } satisfies KeptCall;
  }

  #path(given: readonly Node[], depth: number): string | undefined {
    const parts = given
      .filter((each) => !/^(?:__dirname|import\.meta\.dirname|process\.cwd)$/.test(dotted(each) ?? ''))
      .filter((each) => each.type !== 'CallExpression')
      .map((each) => this.data(each, depth + 1));
    return parts.length > 0 && parts.every((part) => typeof part === 'string') ? parts.join('/') : undefined;
  }

  /** What a function gives back, where it does nothing but give it back last. */
  #returned(node: Node, depth: number): unknown {
    const body = unwrapped(child(node, 'body'));
    if (body?.type !== 'BlockStatement') return this.data(body, depth + 1);
    const returns = nodes(body.body).filter(({ type }) => type === 'ReturnStatement');
    return this.data(child(returns.at(-1), 'argument'), depth + 1);
  }
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of `export default` or `module.exports`. */
export function exported(program: Node): Node | undefined {
  for (const statement of nodes(program.body)) {
    if (statement.type === 'ExportDefaultDeclaration') return child(statement, 'declaration');
    if (statement.type === 'TSExportAssignment') return child(statement, 'expression');
    const expression =
      statement.type === 'ExpressionStatement' ? unwrapped(child(statement, 'expression')) : undefined;
    if (expression?.type === 'AssignmentExpression' && dotted(child(expression, 'left')) === 'module.exports')
      return child(expression, 'right');
  }
  return undefined;
}

/** Variables that a schema names: zod, valibot, envalid, joi, yup, TypeBox, t3-env, Adonis, Astro. */
import type { EnvRead } from '../source-facts.ts';
import { plainText } from './env-reads.ts';
import { calledName, child, type Node, type NodePlace, nodes, propertyKey, unwrapped } from './syntax.ts';

const roots = new Set(
  `z zod v t Type Joi joi yup y s S type Schema str num url port host bool json email Env envField makeValidator
  optional coerce string number boolean`.split(/\s+/),
);
const shouted = /^[A-Z][A-Z0-9_]{1,127}$/;
const builtIn = new Set(['MODE', 'PROD', 'DEV', 'SSR']);

export function schemaReads(
  places: readonly NodePlace[],
): (Omit<EnvRead, 'line'> & { readonly start: number })[] {
  return places.flatMap(({ node }) => {
    if (node.type !== 'ObjectExpression') return [];
    return nodes(node.properties).flatMap((property) => {
      const key = propertyKey(property);
      const value = unwrapped(child(property, 'value'));
      if (key === undefined || !shouted.test(key) || builtIn.has(key) || !value) return [];
      const said = saidBySchema(value);
      return said ? [{ key, via: 'schema' as const, start: property.start, ...said }] : [];
    });
  });
}

/** Follows `z.string().url().default('x')` back to its root. */
function saidBySchema(value: Node): { required: boolean; default?: string } | undefined {
  let isOptional = false;
  let fallback: string | undefined;
  let at: Node | undefined = value;
  for (let steps = 0; at && steps < 40; steps += 1) {
    if (at.type === 'CallExpression') {
      const name = calledName(at) ?? '';
      const given = nodes(at.arguments);
      if (/^(?:optional|nullish|nullable|notRequired|Optional|catch)$/.test(name)) isOptional = true;
      if (name === 'default' || name === 'prefault') {
        isOptional = true;
        fallback ??= plainText(given[0]);
      }
      const options = given.find(({ type }) => type === 'ObjectExpression');
      const fromOption = options ? fromOptions(options) : undefined;
      if (fromOption?.isOptional) isOptional = true;
      fallback ??= fromOption?.default;
      // `v.optional(v.string(), 'x')` has its default as the second argument.
      if (name === 'optional' && given.length === 2) fallback ??= plainText(given[1]);
      at = unwrapped(child(at, 'callee'));
    } else if (at.type === 'MemberExpression') {
      if (child(at, 'property')?.name === 'optional') isOptional = true;
      at = unwrapped(child(at, 'object'));
    } else break;
  }
  const isSchema = value.type === 'CallExpression' && at?.type === 'Identifier' && roots.has(String(at.name));
  if (!isSchema) return undefined;
  return { required: !isOptional, ...(fallback === undefined ? {} : { default: fallback }) };
}

/** `str({default: 'x'})`, `envField.string({optional: true})`. */
function fromOptions(options: Node): { isOptional: boolean; default?: string } {
  let isOptional = false;
  let fallback: string | undefined;
  for (const property of nodes(options.properties)) {
    const key = propertyKey(property);
    if (key === 'default') {
      isOptional = true;
      fallback = plainText(child(property, 'value'));
    }
    if (key === 'optional' && unwrapped(child(property, 'value'))?.value === true) isOptional = true;
  }
  return { isOptional, ...(fallback === undefined ? {} : { default: fallback }) };
}

/** YAML as data: no tags that make objects, and no aliases that unfold to more than a file could hold. */
import { parseDocument } from 'yaml';

export function parseYaml(text: string): unknown {
  const document = parseDocument(text, { logLevel: 'silent', uniqueKeys: false, prettyErrors: false });
  const [error] = document.errors;
  if (error) throw error;
  return document.toJS({ maxAliasCount: 100 });
}

/** TOML as data. */
import { parse } from 'smol-toml';

export function parseToml(text: string): unknown {
  return parse(text);
}

/** The variables of a release, from what was sealed. */
import { Secret } from '../../secret.ts';

export function readVariables(opened: Secret): Map<string, Secret> {
  const plain: unknown = JSON.parse(opened.reveal());
  return new Map(Object.entries(Object(plain)).map(([key, value]) => [key, new Secret(String(value))]));
}

/** Domain names: kept in lower case and without the last dot. The root is the empty text. */
import { InputError } from '../control/input.ts';

export function plainName(name: string): string {
  const lower = name.toLowerCase();
  return lower.endsWith('.') ? lower.slice(0, -1) : lower;
}

export function parentOf(name: string): string {
  const dot = name.indexOf('.');
  return dot === -1 ? '' : name.slice(dot + 1);
}

export function isWithin(name: string, zone: string): boolean {
  return name === zone || name.endsWith(`.${zone}`);
}

/** A `*` may stand for the first label where wildcards make sense, and nowhere else. */
export function checkedName(text: string, use: { readonly wildcard: boolean }): string {
  const name = plainName(text);
  const labels = name.split('.');
  const wrong = labels.find(
    (label, index) => !isLabel(label) && !(use.wildcard && index === 0 && label === '*'),
  );
  if (wrong !== undefined || name.length > 253) {
    const what =
      wrong === undefined ? 'it is longer than 253 characters' : `"${wrong}" cannot be a part of one`;
    const star = use.wildcard ? ', or * as the first' : '';
    throw new InputError(
      `"${text}" is no domain name: ${what}. Parts have 1 to 63 letters, digits, - or _${star}, such as app.lab.test.`,
    );
  }
  return name;
}

function isLabel(label: string): boolean {
  return /^[a-z0-9_-]{1,63}$/.test(label);
}

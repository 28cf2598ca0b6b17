/** Names of stored objects. They are made by us of ids; one that could lead elsewhere is a mistake in our own code. */

const segment = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
const beginning = /^(?:[A-Za-z0-9_][A-Za-z0-9_.-]*\/)*(?:[A-Za-z0-9_][A-Za-z0-9_.-]*)?$/;
const longest = 512;

export function checkName(name: string): void {
  if (name.length > longest || !name.split('/').every((each) => segment.test(each)))
    throw new Error(`«${name.slice(0, 100)}» is no name for a stored object`);
}

/** The beginning of names; empty stands for all of them. */
export function checkBeginning(prefix: string): void {
  if (prefix.length > longest || !beginning.test(prefix))
    throw new Error(`«${prefix.slice(0, 100)}» is no beginning of the name of a stored object`);
}

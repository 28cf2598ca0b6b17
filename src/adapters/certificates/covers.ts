/** Whether a certificate is for a hostname, as browsers see it: a star stands for one whole label, and only the first. */
export function covers(names: readonly string[], hostname: string): boolean {
  const wanted = plain(hostname);
  const rest = wanted.slice(wanted.indexOf('.') + 1);
  return names.some((each) => {
    const name = plain(each);
    if (name === wanted) return true;
    return name.startsWith('*.') && rest !== wanted && name.slice(2) === rest;
  });
}

function plain(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

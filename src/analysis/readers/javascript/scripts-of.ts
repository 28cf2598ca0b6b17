/** The code in a file: all of it, or the scripts of a Vue, Svelte or Astro component, at their lines. */
type Lang = 'jsx' | 'ts' | 'tsx';

export function scriptsOf(path: string, text: string): { code: string; lang: Lang } {
  // JSON5 is what JavaScript takes for an object.
  if (path.endsWith('.json5')) return { code: `export default ${text}`, lang: 'ts' };
  if (/\.[cm]?ts$/.test(path)) return { code: text, lang: 'ts' };
  if (path.endsWith('.tsx')) return { code: text, lang: 'tsx' };
  if (path.endsWith('.astro')) return { code: frontMatter(text), lang: 'ts' };
  if (/\.(?:vue|svelte)$/.test(path)) return { code: scripts(text), lang: 'ts' };
  return { code: text.startsWith('#!') ? `//${text}` : text, lang: 'jsx' };
}

function frontMatter(text: string): string {
  const from = text.indexOf('---');
  const to = from === -1 ? -1 : text.indexOf('\n---', from + 3);
  return to === -1 || text.slice(0, from).trim() !== ''
    ? ''
    : blank(text.slice(0, from + 3)) + text.slice(from + 3, to);
}

/** What is not code becomes empty lines, so that line numbers stay right. */
function scripts(text: string): string {
  let code = '';
  let at = 0;
  for (;;) {
    const tag = text.indexOf('<script', at);
    const from = tag === -1 ? -1 : text.indexOf('>', tag) + 1;
    const to = from <= 0 ? -1 : text.indexOf('</script', from);
    if (to === -1) return code;
    code += `${blank(text.slice(at, from))}${text.slice(from, to)}\n;`.replace(/\n;$/, ';');
    at = to;
  }
}

function blank(text: string): string {
  return '\n'.repeat(text.split('\n').length - 1);
}

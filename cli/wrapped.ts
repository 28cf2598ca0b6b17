/** A text in lines of a width. A word that is longer than one stays whole: it may be an address. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && visible(longer).length > width) lines.push(line);
    line = line !== '' && visible(longer).length > width ? word : longer;
  }
  return [...lines, line];
}

/** Without the colours, which take no room. */
export function visible(text = ''): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what has no width
  return text.replaceAll(/\x1b\[\d+m/g, '');
}

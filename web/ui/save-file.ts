/** Hands a file to the person, as the browser does with any download. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser has it by the next turn.
  setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
}

/** Base64 without the leniency of Buffer, which skips what it does not know and stops at the first `=`. */
export function fromBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}

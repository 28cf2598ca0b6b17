/** PEM as people paste it: with text around the blocks, with Windows' line ends, indented, or wrapped anyhow. */

export interface PemBlock {
  readonly label: string;
  /** Lines such as `Proc-Type: 4,ENCRYPTED`, in which old tools say how the content is encrypted. */
  readonly headers: readonly string[];
  /** `undefined` where the content is no base64. */
  readonly der: Buffer | undefined;
}

export function pemBlocks(text: string): PemBlock[] {
  const found = text.matchAll(/-----BEGIN ([A-Z0-9 ]{1,40})-----([^-]*(?:-(?!----)[^-]*)*)-----END \1-----/g);
  return [...found].map(([, label = '', content = '']) => {
    const lines = content.split(/\r\n?|\n/).map((line) => line.trim());
    const headers = lines.filter((line) => line.includes(':'));
    const base64 = lines
      .filter((line) => !line.includes(':'))
      .join('')
      .replaceAll(/\s/g, '');
    return { label, headers, der: decoded(base64) };
  });
}

function decoded(base64: string): Buffer | undefined {
  const isWhole = base64.length > 0 && base64.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(base64);
  return isWhole ? Buffer.from(base64, 'base64') : undefined;
}

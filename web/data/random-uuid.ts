/** Browsers offer `crypto.randomUUID` over https and on this machine only; the SDK makes the keys of its calls with it. */
export function ensureRandomUuid(): void {
  crypto.randomUUID ??= () => {
    const bytes = [...crypto.getRandomValues(new Uint8Array(16))];
    const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
    const part = (from: number, to?: number) => hex.slice(from, to);
    return `${part(0, 8)}-${part(8, 12)}-4${part(13, 16)}-a${part(17, 20)}-${part(20)}`;
  };
}

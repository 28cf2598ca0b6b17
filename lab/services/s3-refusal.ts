/** A refusal as S3 words it: a status, a code of its own list, and XML around it. */

export class S3Refusal extends Error {
  readonly status: number;
  readonly code: string;
  /** Further elements of the answer. */
  readonly more: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: string,
    message: string,
    extra: {
      readonly more?: Readonly<Record<string, string>>;
      readonly headers?: Readonly<Record<string, string>>;
    } = {},
  ) {
    super(message);
    this.name = 'S3Refusal';
    this.status = status;
    this.code = code;
    this.more = extra.more ?? {};
    this.headers = extra.headers ?? {};
  }

  toXml(): string {
    const inside = Object.entries({ Code: this.code, Message: this.message, ...this.more });
    return document('Error', inside.map(([name, value]) => element(name, value)).join(''));
  }
}

export function element(name: string, text: string | number | boolean): string {
  const escaped = String(text).replace(/[&<>"]/g, (each) => `&#${each.charCodeAt(0)};`);
  return `<${name}>${escaped}</${name}>`;
}

export function document(root: string, inside: string): string {
  const space = root === 'Error' ? '' : ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root}${space}>${inside}</${root}>`;
}

/** What the api answers and the web page shows. */
export interface Greeting {
  readonly text: string;
  readonly from: string;
  readonly version: string;
}

export function greet(name: string, from: string, version: string): Greeting {
  return { text: `Hello, ${name.trim() || 'stranger'}!`, from, version };
}

export function isGreeting(value: unknown): value is Greeting {
  return (
    typeof value === 'object' &&
    value !== null &&
    'text' in value &&
    typeof value.text === 'string' &&
    'from' in value &&
    typeof value.from === 'string' &&
    'version' in value &&
    typeof value.version === 'string'
  );
}

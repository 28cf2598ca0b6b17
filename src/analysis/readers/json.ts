/** JSON as tools write it: comments and trailing commas are let pass, anything else is an error. */
import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';

export function parseJsonc(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Slower, and only for those that need it.
    const errors: ParseError[] = [];
    const value: unknown = parse(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
    const [first] = errors;
    if (first) throw new Error(`${printParseErrorCode(first.error)} at character ${first.offset}`);
    return value;
  }
}

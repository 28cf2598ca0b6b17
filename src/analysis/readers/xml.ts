/** XML as data, for project files: no entities are expanded, and nesting is bounded by the parser. */
import { XMLParser } from 'fast-xml-parser';

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '',
  removeNSPrefix: true,
  parseTagValue: false,
  processEntities: false,
});

export function parseXml(text: string): unknown {
  return parser.parse(text);
}

/** A tag that may stand there once, often or never. */
export function xmlList(value: unknown): readonly unknown[] {
  if (value === undefined || value === null || value === '') return [];
  return Array.isArray(value) ? value : [value];
}
